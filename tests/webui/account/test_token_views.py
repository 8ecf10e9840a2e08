"""Personal tokens: for scripts, for sending, and for nothing else."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.add.test_views import TORRENT, magnet, titles
from webui.account.token_views import MOST_GUESSES
from webui.models import Role, SendToken

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}


def make(person, name="seedbox", **headers):
    return person.client.post("/account/tokens/", {"name": name}, headers=headers)


def shown_token(answer):
    return page(answer).select_one("#token-line")["value"].removeprefix("Authorization: Bearer ")


@pytest.fixture
def token(bob):
    return shown_token(make(bob))


def send(token, form, **headers):
    headers = {"host": "localhost", "authorization": f"Bearer {token}", **headers}
    return Client(enforce_csrf_checks=True).post("/send/", form, headers=headers)


# On the account page


def test_a_new_token_is_shown_once_and_kept_as_a_hash(bob):
    answer = make(bob)
    token = shown_token(answer)
    assert len(token) > 43
    assert token not in bob.client.get("/account/").content.decode()
    row = SendToken.objects.get()
    assert token not in str(SendToken.objects.values())
    assert (row.user, row.name, row.used_at) == (bob.user, "seedbox", None)


def test_under_htmx_only_its_section_comes_back(bob):
    answer = make(bob, **HTMX)
    assert page(answer).select_one("#tokens")
    assert not page(answer).select_one("html")


def test_its_last_use_is_shown(bob, token, storage):
    assert "Never used" in words(bob.client.get("/account/"), "#tokens .rows")
    send(token, {"text": magnet(1)})
    assert "Last used: Today" in words(bob.client.get("/account/"), "#tokens .rows")


@each_case("name", ["", "  ", "seedbox"])
def test_a_token_needs_a_name_of_its_own(bob, token, name):
    answer = make(bob, name)
    assert answer.status_code == 422
    assert page(answer).select_one("#token-name[aria-invalid=true]")
    assert SendToken.objects.count() == 1


@pytest.mark.slow
def test_nobody_has_tokens_without_end(bob):
    for number in range(SendToken.MOST_EACH):
        SendToken.make(bob.user, str(number), timezone.now())
    assert "Revoke one" in words(make(bob), "#token-error")


def test_a_revoked_token_is_no_good(bob, token, storage):
    row = SendToken.objects.get()
    bob.client.post(f"/account/tokens/{row.pk}/revoke/")
    assert send(token, {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_nobody_revokes_anothers(bob, alice, token, storage):
    row = SendToken.objects.get()
    alice.client.post(f"/account/tokens/{row.pk}/revoke/")
    assert send(token, {"text": magnet(1)}).status_code == 200


def test_guests_see_no_tokens(gwen):
    assert not page(gwen.client.get("/account/")).select("#tokens, #ways")


# For scripts


@each_case("field", ["magnet", "url", "text"])
def test_links_are_sent_with_it(token, storage, field):
    answer = send(token, {field: magnet(1)})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert answer.content.decode() == "added: Sintel: Added\n1 transfer added\n"
    assert titles(storage) == ["Sintel"]


def test_a_file_is_sent_with_it(token, storage):
    answer = send(token, {"file": SimpleUploadedFile("a.torrent", TORRENT)})
    assert answer.status_code == 200
    assert titles(storage) == ["a.mkv"]


def test_who_asks_for_json_gets_it(token, storage):
    answer = send(token, {"text": f"{magnet(1)}\nnothing"}, accept="application/json")
    assert answer.status_code == 422
    assert [item["outcome"] for item in answer.json()["items"]] == ["added", "unreadable"]


def test_nothing_is_refused_in_words(token, storage):
    answer = send(token, {})
    assert answer.status_code == 422
    assert b"Paste a link" in answer.content


@each_case("header", ["", "Bearer ", "Bearer ferry_guess", "Basic Ym9iOng="])
def test_without_it_nothing_is_read_and_nobody_is_sent_to_sign_in(storage, header):
    answer = Client().post(
        "/send/", {"text": magnet(1)}, headers={"host": "localhost", "authorization": header}
    )
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert titles(storage) == []


def test_a_cookie_opens_nothing_there(alice, storage):
    assert alice.client.post("/send/", {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_no_session_is_begun_or_read(token, storage):
    answer = send(token, {"text": magnet(1)})
    assert not answer.cookies
    assert "Cookie" not in answer.get("Vary", "")


def test_a_token_opens_no_other_page(token):
    headers = {"host": "localhost", "authorization": f"Bearer {token}"}
    assert Client().get("/", headers=headers).status_code == 302
    assert Client().get("/rest/folder", headers=headers).status_code == 401


def test_the_role_of_its_bearer_is_judged_at_each_use(bob, token, storage):
    bob.user.role = Role.GUEST
    bob.user.save()
    assert send(token, {"text": magnet(1)}).status_code == 403
    bob.user.role, bob.user.is_active = Role.MEMBER, False
    bob.user.save()
    assert send(token, {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_guesses_are_limited_and_lock_nobody_out(token, storage):
    answers = [send("ferry_guess", {}) for _try in range(MOST_GUESSES + 1)]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) > 0
    assert send(token, {"text": magnet(1)}).status_code == 200


def test_names_obey_no_terminal(token, storage):
    answer = send(token, {"text": magnet(1, "a%1B%5B2Jb%E2%80%AEc")})
    assert answer.content.decode().startswith("added: a?[2Jb?c: Added")


def test_a_service_that_is_away_is_told_with_what_is_left(token, storage):
    storage.fails("/rest/transfer/magnet", 503)
    answer = send(token, {"text": f"{magnet(1)}\n{magnet(2)}"})
    assert answer.status_code == 422
    assert f"left: {magnet(2)}" in answer.content.decode()
