"""Tokens on the Account screen."""

import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.add.test_send_by_token_views import send
from tests.webui.add.test_views import magnet, titles
from webui.account.views import MOST_TOKENS
from webui.add import send_tokens
from webui.models import SendToken

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
    row = SendToken.objects.get()
    assert token not in str(SendToken.objects.values())
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
    assert SendToken.objects.count() == 1


@pytest.mark.slow
def test_the_number_of_tokens_is_limited(bob):
    for number in range(MOST_TOKENS):
        send_tokens.create(bob.user, str(number), timezone.now())
    assert "Revoke one" in words(make(bob), "#token-error")


@each_case("headers", [{}, HTMX])
def test_a_revoked_token_does_not_work(bob, token, storage, headers):
    form = page(bob.client.get("/account/")).select_one("#tokens .rows form")
    answer = bob.client.post(form["action"], headers=headers, follow=True)
    assert "Token revoked" in words(answer, "#tokens" if headers else "#toasts")
    assert not page(answer).select("#tokens .rows")
    assert send(token, {"text": magnet(1)}).status_code == 401
    assert titles(storage) == []


def test_people_cannot_revoke_tokens_of_others(bob, alice, token, storage):
    row = SendToken.objects.get()
    alice.client.post(f"/account/tokens/{row.pk}/revoke/")
    assert send(token, {"text": magnet(1)}).status_code == 200


def test_guests_see_no_tokens(gwen):
    assert not page(gwen.client.get("/account/")).select("#tokens, #ways")
