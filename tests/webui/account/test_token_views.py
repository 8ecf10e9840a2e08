"""Tokens on the Account screen."""

import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import make_person, page, words
from tests.webui.add.test_send_by_token_views import send
from tests.webui.add.test_views import magnet, titles
from webui.models import Role, Token
from webui.tokens import tokens
from webui.tokens.tokens import MOST_TOKENS

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}


def make(person, name="seedbox", **headers):
    return person.client.post("/account/tokens/", {"name": name}, headers=headers)


def shown_token(answer):
    return page(answer).select_one("#token-line")["value"].removeprefix("Authorization: Bearer ")


@pytest.fixture
def token(bob):
    return shown_token(make(bob))


def test_a_new_token_is_shown_once_and_stored_as_a_hash(bob, caplog):
    caplog.set_level("DEBUG")
    answer = make(bob)
    token = shown_token(answer)
    assert len(token) > 43
    assert page(answer).select_one("#token-line[autofocus]")
    assert token not in bob.client.get("/account/").content.decode()
    row = Token.objects.get()
    assert token not in str(Token.objects.values())
    assert (row.user, row.name, row.used_at) == (bob.user, "seedbox", None)
    assert send(token, {"text": ""}).status_code == 422
    assert token not in caplog.text


def test_under_htmx_only_its_section_is_returned(bob):
    answer = make(bob, **HTMX)
    assert page(answer).select_one("#tokens")
    assert not page(answer).select_one("html")


def test_its_last_use_is_shown(bob, token, storage):
    assert "Never used" in words(bob.client.get("/account/"), "#tokens .rows")
    send(token, {"text": magnet(1)})
    assert "Last used: Today" in words(bob.client.get("/account/"), "#tokens .rows")


@each_case("name", ["", "  ", "seedbox"])
def test_a_token_needs_a_unique_name(bob, token, name):
    answer = make(bob, name)
    assert answer.status_code == 422
    assert page(answer).select_one("#token-name[aria-invalid=true]")
    assert Token.objects.count() == 1


@pytest.mark.slow
def test_the_number_of_tokens_is_limited(bob):
    for number in range(MOST_TOKENS):
        tokens.create(bob.user, str(number), timezone.now())
    assert "Revoke one" in words(make(bob), "#token-name-error")


@each_case("headers", [{}, HTMX])
def test_a_revoked_token_does_not_work(bob, token, storage, headers):
    form = page(bob.client.get("/account/")).select_one("#tokens .rows form")
    answer = bob.client.post(form["action"], headers=headers, follow=True)
    assert "Token revoked" in words(answer, "#tokens" if headers else "#toasts")
    assert not page(answer).select("#tokens .rows")
    assert send(token, {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_only_owners_can_revoke_tokens_of_others(bob, alice, token, storage):
    carol, row = make_person("carol", Role.MEMBER), Token.objects.get()
    carol.client.post(f"/account/tokens/{row.pk}/revoke/")
    assert send(token, {"text": magnet(1)}).status_code == 200
    shown = page(alice.client.get("/account/server/")).select_one("#tokens .rows")
    assert "bob" in shown.get_text()
    answer = alice.client.post(shown.select_one("form")["action"], follow=True)
    assert "Token revoked" in words(answer, "#toasts")
    assert send(token, {"text": magnet(1)}).status_code == 401


def test_owners_do_not_see_the_tokens_themselves(bob, alice, token):
    assert token not in alice.client.get("/account/server/").content.decode()


def test_members_see_only_their_own_tokens(bob, token):
    carol = make_person("carol", Role.MEMBER)
    assert not page(carol.client.get("/account/")).select("#tokens .rows")
    assert not page(carol.client.get("/account/server/")).select("#tokens")


def test_guests_can_make_a_token_that_reads_the_drive_and_no_other(gwen):
    shown = page(gwen.client.get("/account/"))
    assert not shown.select("#ways")
    purposes = [each["value"] for each in shown.select("#tokens [name=purpose]")]
    assert purposes == ["drive"]
    assert not shown.select("#tokens [name=read_only]")
    for purpose in ("send", "programs", ""):
        answer = gwen.client.post("/account/tokens/", {"name": "x", "purpose": purpose})
        assert answer.status_code == 422
    assert not Token.objects.exists()
    gwen.client.post("/account/tokens/", {"name": "tv", "purpose": "drive"})
    assert not Token.objects.get().may_write


def test_a_drive_token_is_shown_with_the_address_and_the_name(bob):
    answer = bob.client.post("/account/tokens/", {"name": "tv", "purpose": "drive"})
    shown = words(answer, "#tokens .token")
    assert "http://localhost/dav/" in shown
    assert "bob" in shown
    assert page(answer).select_one("#token-line")["value"].startswith("ferry_")


def test_a_token_can_be_limited_to_reading_and_to_a_folder(bob, storage):
    films = storage.folder("Films")
    new = storage.folder("New", films.id)
    form = {"name": "tv", "purpose": "drive", "read_only": "1", "folder": "/Films/New/"}
    bob.client.post("/account/tokens/", form)
    row = Token.objects.get()
    assert (row.may_write, row.folder, row.service) == (False, str(new.id), storage.service.key)
    shown = words(bob.client.get("/account/"), "#tokens .rows")
    assert "read-only, only in New" in shown


def test_a_token_for_programs_can_be_limited_to_a_folder(bob, storage):
    films = storage.folder("Films")
    form = {"name": "sonarr", "purpose": "programs", "folder": "Films"}
    bob.client.post("/account/tokens/", form)
    row = Token.objects.get()
    assert (row.purpose, row.folder, row.may_write) == ("programs", str(films.id), True)


@each_case("folder, is_said", [(None, True), ("/srv/media/ferry", False)])
def test_a_token_for_programs_says_if_they_find_no_files(bob, settings, folder, is_said):
    settings.HANDOVER_DIR = folder
    answer = bob.client.post("/account/tokens/", {"name": f"{folder}", "purpose": "programs"})
    assert ("HANDOVER_DIR" in words(answer, "#tokens .token")) == is_said


def test_a_token_to_send_always_writes(alice, storage):
    alice.client.post("/account/tokens/", {"name": "s", "purpose": "send", "read_only": "1"})
    assert Token.objects.get().may_write


def test_a_token_needs_a_folder_that_exists(bob, storage):
    answer = bob.client.post("/account/tokens/", {"name": "tv", "folder": "Films/Old"})
    assert "can't find this folder" in words(answer, "#token-folder-error")
    assert not Token.objects.exists()
