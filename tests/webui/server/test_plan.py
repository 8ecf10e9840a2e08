"""The Server screen: the account at the storage service, and its wishlist."""

import secrets
import time
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from tests.cases import each_case
from tests.misbehaving import serving, then_silent
from tests.people import page, words
from webui.connection.connection import Service, recent_failure
from webui.models import HiddenWish, Role, Sent, User
from webui.server import plan as server_plan
from webui.v1 import records
from webui.v1.client import Client
from webui.v1.connection import Health, Patience
from webui.v1.errors import Unavailable

pytestmark = pytest.mark.django_db
HASH = "c" * 39 + "1"
PATIENCE = Patience()
MAGNET = f"magnet:?xt=urn:btih:{HASH}&dn=Slow+ferries"
WISH = {
    "id": 31,
    "title": "Slow <b>ferries</b>",
    "size": 5_000_000,
    "torrent_hash": HASH,
    "torrent_magnet": MAGNET,
    "created": "2026-11-18 10:00:00",
}
UNLINKED = {"id": 32, "title": "Private letters", "size": 7}


def tells(storage, *wishes, status=200, **more):
    account = {
        "username": "owner@example.org",
        "premium": True,
        "package_name": "PRO",
        "space_max": 2_000_000_000,
        "wishlist": list(wishes),
        **more,
    }
    answers = [httpx.Response(status, json={"account": account, "country": "NL"}) for _ in range(9)]
    storage.says("/rest/user", *answers)


def test_the_owner_sees_the_plan_and_all_that_the_service_tells(alice, foreign):
    tells(foreign, invites=3, is_trusted=False, ratio=1.5, nested={"a": 1}, odd=[1])
    part = alice.client.get("/account/server/").context["plan"]
    assert list(part.facts) == [
        ("Signed in as", "owner@example.org"),
        ("Plan", "PRO, 2 GB"),
    ]
    others = dict(part.others)
    assert others == {"country": "NL", "invites": "3", "is_trusted": "false", "ratio": "1.5"}


def test_a_foreign_services_account_is_changed_there(bob, foreign):
    assert "Change them there" in words(bob.client.get("/account/server/"), "#plan header")


def test_invited_people_see_the_plan_without_name_and_details(bob, foreign):
    tells(foreign, invites=3)
    answer = bob.client.get("/account/server/")
    assert "PRO, 2 GB" in words(answer, "#plan")
    assert "owner@example.org" not in answer.content.decode()
    assert "invites" not in words(answer, "#plan")


def test_a_guest_sees_nothing_and_causes_no_request(gwen, storage):
    tells(storage, WISH)
    assert page(gwen.client.get("/account/server/")).select_one("#plan") is None
    assert storage.calls == []


@each_case(
    "key", ["password", "access_token", "api_key", "rss_hash", "SECRET", "cookie_jar", "otp_seed"]
)
def test_a_secret_never_reaches_the_page(alice, foreign, key):
    tells(foreign, **{key: "herring-42", "mail": "herring-43"})
    html = alice.client.get("/account/server/").content.decode()
    assert "herring-43" in html
    assert "herring-42" not in html


def test_account_details_are_limited_in_number_and_length():
    extra = {f"field_{number}": "x" * 9_000 for number in range(500)}
    account = records.account({"username": "a", "feed": "https://x.example/?sig=1", **extra})
    assert len(account.others) == records.MOST_OTHERS
    assert {len(value) for _name, value in account.others} == {records.LONGEST_OTHER}
    assert "feed" not in dict(account.others)


def test_the_page_asks_once(alice, storage):
    alice.client.get("/account/server/")
    assert storage.calls.count(("GET", "/rest/user")) == 1


def test_an_unreachable_service_is_reported_and_not_tried_again_at_once(alice, storage):
    storage.fails("/rest/user", 503)
    answer = alice.client.get("/account/server/")
    assert answer.status_code == 200
    assert "isn't responding" in words(answer, "#plan")
    assert "isn't responding" in words(answer, "#service")
    before = len(storage.calls)
    assert before
    assert "isn't responding" in words(alice.client.get("/account/server/"), "#plan")
    assert len(storage.calls) == before


def test_a_hanging_service_delays_no_one(monkeypatch):
    # No setting shortens the 3 s that a page waits.
    monkeypatch.setattr(server_plan, "PATIENCE_SECONDS", 0.2)
    start = time.monotonic()
    with serving(then_silent()) as server, Client(f"http://127.0.0.1:{server.port}", None) as v1:
        hanging = Service(secrets.token_hex(8), v1, is_embedded=False)
        with pytest.raises(Unavailable, match="too_slow"):
            server_plan.read_account(hanging, timezone.now())
    assert time.monotonic() - start < PATIENCE.call_seconds / 2


def test_the_last_known_plan_shows_to_all_while_the_service_is_unreachable(alice, bob, foreign):
    tells(foreign, WISH)
    bob.client.get("/account/server/")
    foreign.fails("/rest/user", 503)
    plan = words(alice.client.get("/account/server/"), "#plan")
    assert "isn't responding" in plan
    assert "You're seeing the details from just now." in plan
    assert "PRO, 2 GB" in plan
    assert "ferries" in plan


def test_the_plan_of_another_service_is_not_shown_instead(bob, storage, request):
    tells(storage, WISH)
    bob.client.get("/account/server/")
    other = request.getfixturevalue("foreign")
    other.fails("/rest/user", 503)
    plan = words(bob.client.get("/account/server/"), "#plan")
    assert "isn't responding" in plan
    assert "PRO" not in plan


def test_the_wishlist_is_shown_as_text(bob, storage):
    tells(storage, WISH, UNLINKED, "nonsense")
    answer = bob.client.get("/account/server/")
    rows = page(answer).select("#plan li")
    assert len(rows) == 2
    assert rows[0].select_one("b").text == "Slow <b>ferries</b>"
    assert [button.text for button in rows[0].select("button")] == ["Try again", "Hide"]
    assert "Hiding an item only hides it in Ferry" in words(answer, "#plan")
    assert [button.text for button in rows[1].select("button")] == ["Hide"]


def test_a_long_wishlist_says_how_many_are_left_out(bob, storage):
    tells(storage, *({**WISH, "id": number} for number in range(100, 350)))
    answer = bob.client.get("/account/server/")
    assert len(page(answer).select("#plan li")) == 101
    assert "and 150 more" in words(answer, "#plan")


def test_a_wish_that_is_tried_again_becomes_a_transfer_and_is_a_wish_no_more(bob, storage):
    tells(storage, WISH)
    button = page(bob.client.get("/account/server/")).select_one("#plan form[action$='/retry/']")
    answer = bob.client.post(button["action"], follow=True)
    assert "Slow ferries: Added" in words(answer, "#toasts")
    assert Sent.objects.get().added_by == bob.user
    assert page(answer).select_one("#plan") is None
    assert "Slow ferries" in words(bob.client.get("/transfers/"), "#active")


def test_a_wish_that_is_refused_again_stays(bob, storage):
    tells(storage, WISH)
    storage.fails("/rest/transfer/magnet", 413, "not_enough_space_added_to_wishlist")
    storage.fails("/rest/torrent/magnet", 413, "not_enough_space_added_to_wishlist")
    answer = bob.client.post("/account/wishes/31/retry/", follow=True)
    assert "enough space" in words(answer, "#toasts .error")
    assert "ferries" in words(answer, "#plan")
    assert page(answer).select("#plan form[action$='/31/retry/']")


def test_a_hidden_wish_is_hidden_from_all_and_the_service_is_not_told(alice, bob, storage):
    tells(storage, WISH, UNLINKED)
    button = page(bob.client.get("/account/server/")).select_one("#plan form[action$='/forget/']")
    answer = bob.client.post(button["action"], follow=True)
    assert "stays on the service's list" in words(answer, "#toasts")
    for shown in (answer, alice.client.get("/account/server/")):
        assert "ferries" not in words(shown, "#plan")
        assert "Private letters" in words(shown, "#plan")
    assert {method for method, _path in storage.calls} == {"GET"}


@each_case("act", ["retry", "forget"])
@each_case("key", ["99", "abc1"])
def test_an_unknown_wish_is_not_found_and_nothing_is_saved(bob, storage, act, key):
    tells(storage, WISH)
    assert bob.client.post(f"/account/wishes/{key}/{act}/").status_code == 404
    assert not HiddenWish.objects.exists()


def test_wishes_gone_from_the_service_are_forgotten_here_too(bob, storage):
    tells(storage, WISH, UNLINKED)
    bob.client.post("/account/wishes/31/forget/")
    tells(storage, UNLINKED)
    bob.client.post("/account/wishes/32/forget/")
    assert [row.wish for row in HiddenWish.objects.all()] == ["32"]


@each_case("hours", [-1, 1])
def test_a_clock_that_was_set_does_not_make_a_trouble_last(hours):
    error = {"last_error": "unknown", "last_failure": Unavailable}
    at = timezone.now()
    health = Health(last_error_at=at, **error)
    assert recent_failure(health, at)
    assert recent_failure(health, at + timedelta(hours=hours)) is None


def test_a_wish_of_a_service_whose_clock_is_ahead_is_listed(bob, storage):
    ahead = timezone.now() + timedelta(hours=1)
    tells(storage, {**WISH, "created": f"{ahead:%Y-%m-%d %H:%M:%S}"})
    assert "ferries" in words(bob.client.get("/account/server/"), "#plan")


@each_case("act", ["retry", "forget"])
def test_a_role_that_was_taken_in_the_meantime_counts(bob, storage, act):
    tells(storage, WISH)
    button = page(bob.client.get("/account/server/")).select_one(f"form[action$='/{act}/']")
    User.objects.filter(pk=bob.user.pk).update(role=Role.GUEST)
    before = len(storage.calls)
    assert bob.client.post(button["action"]).status_code == 403
    assert len(storage.calls) == before
    assert page(bob.client.get("/account/server/")).select_one("#plan") is None


# Plain http


@each_case(
    ("host", "secure", "is_told"),
    [("phone.lan", False, True), ("localhost:8000", False, False), ("phone.lan", True, False)],
)
def test_the_page_says_what_https_would_add_over_http(gwen, settings, host, secure, is_told):
    settings.TRUSTED_HOSTS = ["phone.lan"]
    cookies = gwen.client.cookies
    if secure:
        cookies[f"{settings.SESSION_COOKIE_NAME}_s"] = cookies[settings.SESSION_COOKIE_NAME].value
    answer = gwen.client.get("/account/server/", headers={"host": host}, secure=secure)
    assert answer.status_code == 200
    assert (page(answer).select_one("#plain") is not None) == is_told
