"""Signing in a device from one that is signed in."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import Stranger, page, words
from webui.models import Pairing, Role, User
from webui.people import pairing
from webui.people.pairing import CODE_LIFETIME, LINK_LIFETIME
from webui.pruning import prune

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}
PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1"


@pytest.fixture
def phone():
    return Stranger(headers={"host": "localhost", "user-agent": PHONE})


def offered(person):
    """Return the path of the link, the number, and the URL of the pairing's state."""
    answer = person.client.post("/account/pair/", headers=HTMX)
    soup = page(answer)
    path = re.sub(r"^http://[^/]+", "", soup.select_one("input.mono")["value"])
    return path, soup.select_one("strong.mono").text, soup.select_one("#paired [hx-get]")["hx-get"]


def age(lifetime):
    """Make the pairing older by `lifetime`."""
    row = Pairing.objects.get()
    Pairing.objects.update(expires_at=row.expires_at - lifetime)


def signed_in_as(client):
    answer = client.get("/account/")
    return words(answer, ".page-sub") if answer.status_code == 200 else ""


# By a link


def test_a_phone_is_signed_in_after_one_tap_and_the_desktop_shows_it(bob, phone):
    path, number, state = offered(bob)
    assert bob.client.get(state).status_code == 204
    answer = phone.get(path)
    assert "bob" in words(answer, "header")
    assert words(answer, "strong.mono") == number
    assert phone.post(path)["Location"] == "/"
    assert "bob, Member" in signed_in_as(phone)
    assert "Safari on iPhone is signed in" in words(bob.client.get(state), ".status")


def test_looking_uses_nothing_up_and_signing_in_does(bob, phone):
    path, _number, _state = offered(bob)
    for _time in range(3):
        assert phone.get(path).status_code == 200
        assert phone.head(path).status_code == 200
    assert phone.post(path).status_code == 302
    other = Client(headers={"host": "localhost"})
    assert other.get(path).status_code == 404
    assert other.post(path).status_code == 404
    assert signed_in_as(other) == ""


def test_a_link_is_good_for_two_minutes(bob, phone):
    path, _number, state = offered(bob)
    assert phone.get(path).status_code == 200
    age(LINK_LIFETIME)
    late = phone.post(path)
    assert late.status_code == 404
    assert words(late, "h1") == "Ferry can't find this"
    assert "has expired" in words(bob.client.get(state), ".status")
    path, _number, state = offered(bob)
    assert bob.client.get(state).status_code == 204
    assert phone.post(path)["Location"] == "/"


@each_case("hours", [-1, 1])
def test_a_clock_that_was_set_makes_no_link_last(bob, hours):
    now = timezone.now()
    _row, token = pairing.offer(bob.user, bob.client.session.session_key, now)
    assert pairing.find_offer(token, now)
    assert pairing.find_offer(token, now + timedelta(hours=hours)) is None
    assert pairing.accept(token, PHONE, "127.0.0.1", now + timedelta(hours=hours)) is None


@each_case("hours", [-1, 1])
def test_after_a_clock_was_set_the_desktop_says_that_the_link_is_over(bob, hours):
    _path, _number, state = offered(bob)
    assert bob.client.get(state).status_code == 204
    age(timedelta(hours=hours))
    assert "has expired" in words(bob.client.get(state), ".status")


def test_a_role_that_changes_in_mid_pairing_counts_on_the_phone_too(bob, phone):
    path, _number, _state = offered(bob)
    phone.get(path)
    User.objects.filter(pk=bob.user.pk).update(role=Role.GUEST)
    phone.post(path)
    assert "bob, Guest" in signed_in_as(phone)
    assert phone.get("/add/").status_code == 403


def test_a_new_link_replaces_the_previous_one(bob, phone):
    first, _number, _state = offered(bob)
    second, _number, _state = offered(bob)
    assert phone.get(first).status_code == 404
    assert phone.get(second).status_code == 200


def test_people_cannot_see_pairings_of_others(bob, gwen):
    _path, _number, state = offered(bob)
    assert bob.client.get(state).status_code == 204
    assert gwen.client.get(state).status_code == 404


def test_links_are_not_cacheable(bob, caplog):
    path, _number, _state = offered(bob)
    token = path.strip("/").split("/")[-1]
    assert len(token) > 30
    assert token not in caplog.text + str(list(Pairing.objects.values()))


def test_without_scripts_the_link_is_on_its_own_page(bob, phone):
    answer = bob.client.post("/account/pair/")
    assert page(answer).select_one("html svg.qr")
    assert page(answer).select_one("input.mono")


def test_guesses_at_links_are_limited(phone, clock):
    statuses = [phone.get(f"/pair/guess{number}/").status_code for number in range(25)]
    assert statuses[:20] == [404] * 20
    assert set(statuses[20:]) == {429}


# By a code


def shown_code(device):
    answer = device.post("/pair/")
    return words(answer, ".pair-code")


def approve(person, code):
    return person.client.post("/account/pair/code/", {"code": code, "approve": "1"})


def test_a_device_that_shows_a_code_is_signed_in_when_someone_types_it(bob, phone):
    code = shown_code(phone)
    assert phone.get("/pair/state/").status_code == 204
    answer = bob.client.post("/account/pair/code/", {"code": code.lower()})
    assert "Safari on iPhone at 127.0.0.1" in words(answer, ".sheet")
    assert phone.get("/pair/state/").status_code == 204
    approved = bob.client.post("/account/pair/code/", {"code": code, "approve": "1"}, follow=True)
    assert "Safari on iPhone will be signed in" in words(approved, "#toasts")
    assert page(phone.get("/pair/state/")).select_one("[hx-post][hx-trigger=load]")
    assert phone.post("/pair/state/", headers=HTMX)["HX-Redirect"] == "/"
    assert "bob, Member" in signed_in_as(phone)


def test_pressing_before_the_approval_leads_back_and_signs_no_one_in(phone):
    shown_code(phone)
    assert phone.post("/pair/state/")["Location"] == "/pair/"
    assert signed_in_as(phone) == ""


def test_only_the_device_that_shows_the_code_is_signed_in(bob, phone):
    code = shown_code(phone)
    thief = Client(headers={"host": "localhost"})
    shown_code(thief)
    approve(bob, code)
    assert thief.post("/pair/state/")["Location"] == "/pair/"
    assert phone.post("/pair/state/")["Location"] == "/"


def test_a_code_works_once(bob, gwen, phone):
    code = shown_code(phone)
    approve(bob, code)
    assert approve(gwen, code).status_code == 422
    phone.post("/pair/state/")
    assert "bob" in signed_in_as(phone)
    assert phone.post("/pair/state/").status_code == 404


def test_a_code_is_good_for_five_minutes(bob, phone):
    code = shown_code(phone)
    age(CODE_LIFETIME)
    late = phone.get("/pair/state/", headers=HTMX)
    assert (late.status_code, late["HX-Redirect"]) == (404, "/pair/?late")
    assert approve(bob, code).status_code == 422


@each_case("hours", [-1, 1])
def test_a_clock_that_was_set_makes_no_code_last(bob, phone, hours):
    code = shown_code(phone)
    assert phone.get("/pair/state/").status_code == 204
    age(timedelta(hours=hours))
    assert phone.get("/pair/state/").status_code == 404
    assert approve(bob, code).status_code == 422


def test_guesses_at_codes_are_limited(bob, phone, clock):
    code = shown_code(phone)
    statuses = [approve(bob, "BBBBCCCC").status_code for _time in range(25)]
    assert statuses[0] == 422
    assert statuses[-1] == 429
    assert approve(bob, code).status_code == 429


def test_the_number_of_codes_is_limited(phone, clock):
    statuses = {phone.post("/pair/").status_code for _time in range(25)}
    assert statuses == {200, 429}


def test_a_person_removed_during_pairing_signs_no_one_in(bob, phone):
    code = shown_code(phone)
    approve(bob, code)
    bob.user.delete()
    assert phone.post("/pair/state/").status_code == 404


def test_pairings_are_forgotten_in_time(bob, phone):
    shown_code(phone)
    prune(timezone.now())
    assert Pairing.objects.count() == 1
    prune(timezone.now() + CODE_LIFETIME + pairing.REMEMBERED + timedelta(seconds=1))
    assert not Pairing.objects.exists()
