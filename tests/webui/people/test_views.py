"""People and invitations."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
import segno
from django.db import connection
from django.test import Client
from django.utils import timezone

from common.addresses import own
from tests.cases import each_case
from tests.people import PASSWORD, Stranger, page, signed_in, words
from webui.models import OneTimeLink, Role, User
from webui.people import people
from webui.people.people import INVITATION_LIFETIME, MOST_INVITATIONS, ChangeRefused
from webui.signin import one_time_links

pytestmark = pytest.mark.django_db
NEW = {"username": "ida", "password": PASSWORD, "password_again": PASSWORD}


@pytest.fixture
def stranger():
    return Stranger(headers={"host": "localhost"})


def invited(alice, role="member"):
    """Return the path of a new invitation."""
    answer = alice.client.post("/account/people/invite/", {"role": role})
    assert answer.status_code == 200
    url = page(answer).select_one("input.mono")["value"]
    return re.sub(r"^http://[^/]+", "", url)


# The list of people


def test_only_owners_see_people(alice, bob):
    assert "bob" in words(alice.client.get("/account/server/"), "#people")
    assert page(bob.client.get("/account/server/")).select_one("#people") is None


def test_an_owner_changes_a_role_and_it_counts_at_once(alice, gwen):
    assert gwen.client.get("/files/0/new/").status_code == 403
    answer = alice.client.post(f"/account/people/{gwen.user.pk}/", {"role": "member"}, follow=True)
    assert "gwen now has the role Member" in words(answer, "#toasts")
    assert gwen.client.get("/files/0/new/").status_code == 200


def test_an_invalid_role_changes_nothing(alice, gwen):
    answer = alice.client.post(f"/account/people/{gwen.user.pk}/", {"role": "king"})
    assert answer.status_code == 422
    gwen.user.refresh_from_db()
    assert gwen.user.role == Role.GUEST


def test_an_invitation_says_until_when_to_the_minute(alice):
    answer = alice.client.post("/account/people/invite/", {"role": "guest"})
    assert re.search(r"until \d+ \w+ \d{4}, \d\d:\d\d\. ", words(answer, "main"))


def test_removed_people_are_signed_out_and_cannot_return(alice, bob):
    assert bob.client.get("/").status_code == 200
    answer = alice.client.post(f"/account/people/{bob.user.pk}/remove/", follow=True)
    assert "bob removed" in words(answer, "#toasts")
    assert bob.client.get("/").status_code == 302
    assert not User.objects.filter(username="bob").exists()


def test_an_owner_signs_a_person_out_everywhere(alice, bob):
    bob.client.get("/")
    alice.client.post(f"/account/people/{bob.user.pk}/signout/")
    assert bob.client.get("/").status_code == 302
    bob.user.refresh_from_db()
    assert signed_in(bob.user).get("/").status_code == 200


def test_the_last_owner_stays(alice):
    own = f"/account/people/{alice.user.pk}/"
    for answer in (
        alice.client.post(own, {"role": "guest"}),
        alice.client.post(f"{own}remove/"),
    ):
        assert answer.status_code == 422
        assert "needs an owner" in words(answer, "[role=alert]")
    alice.user.refresh_from_db()
    assert alice.user.role == Role.OWNER


def test_an_owner_beside_another_may_leave(alice, bob):
    people.change_role(bob.user, Role.OWNER, alice.user)
    answer = alice.client.post(f"/account/people/{alice.user.pk}/remove/")
    assert answer["Location"] == "/signin/"
    assert not User.objects.filter(username="alice").exists()


def test_two_owners_cannot_remove_each_other(alice, bob):
    """Bob still has a page that he opened while he was an owner."""
    people.change_role(bob.user, Role.OWNER, alice.user)
    people.change_role(bob.user, Role.GUEST, alice.user)
    with pytest.raises(ChangeRefused, match="no_owner"):
        people.remove(alice.user, bob.user)
    with pytest.raises(ChangeRefused, match="last_owner"):
        people.remove(alice.user, alice.user)


def test_a_removed_owner_removes_no_one_from_a_page_left_open(alice, bob):
    people.change_role(bob.user, Role.OWNER, alice.user)
    left_open = page(bob.client.get(f"/account/people/{alice.user.pk}/"))
    (remove,) = (each["action"] for each in left_open.select("form[action$='/remove/']"))
    removed = alice.client.post(f"/account/people/{bob.user.pk}/remove/", follow=True)
    assert page(removed).select(f"a[href='/account/people/{bob.user.pk}/']") == []
    assert bob.client.post(remove)["Location"].startswith("/signin/")
    assert User.objects.get().username == "alice"


def test_a_former_owner_invites_no_one_from_a_page_left_open(alice, bob):
    people.change_role(bob.user, Role.OWNER, alice.user)
    assert bob.client.get("/account/people/invite/").status_code == 200
    said = alice.client.post(f"/account/people/{bob.user.pk}/", {"role": "guest"}, follow=True)
    assert "bob now has the role Guest" in words(said, "#toasts")
    answer = bob.client.post("/account/people/invite/", {"role": "member"})
    assert answer.status_code == 403
    assert not page(answer).select("input.mono")
    assert not OneTimeLink.objects.exists()
    assert page(bob.client.get("/account/server/")).select_one("#people") is None


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_remove_each_other_at_once_leave_one_owner(alice, bob):
    people.change_role(bob.user, Role.OWNER, alice.user)
    start = Barrier(2)

    def remove(by, whom):
        start.wait(60)
        try:
            answer = by.client.post(f"/account/people/{whom.user.pk}/remove/")
            return answer.get("Location", answer.status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(remove, [alice, bob], [bob, alice]))
    assert answers.count("/account/server/#people") == 1, answers
    assert User.objects.filter(role=Role.OWNER).count() == 1


# Invitations


@each_case("role", list(Role))
def test_invited_people_get_the_role_of_the_invitation(alice, stranger, role):
    path = invited(alice, role)
    assert stranger.get(path).status_code == 200
    answer = stranger.post(path, NEW)
    assert answer["Location"] == "/"
    assert User.objects.get(username="ida").role == role
    assert stranger.get("/account/").status_code == 200


def test_looking_uses_nothing_up_and_joining_does(alice, stranger):
    path = invited(alice)
    for _time in range(3):
        assert stranger.get(path).status_code == 200
        assert stranger.head(path).status_code == 200
    assert stranger.post(path, {**NEW, "password_again": "x"}).status_code == 422
    assert stranger.post(path, NEW).status_code == 302
    other = Client(headers={"host": "localhost"})
    assert other.get(path).status_code == 404
    assert other.post(path, {**NEW, "username": "eve"}).status_code == 404
    assert not User.objects.filter(username="eve").exists()


def test_a_name_that_is_taken_is_refused_and_the_link_stays_good(alice, bob, stranger):
    path = invited(alice)
    answer = stranger.post(path, {**NEW, "username": "Bob"})
    assert answer.status_code == 422
    assert stranger.post(path, NEW).status_code == 302


def test_expired_or_revoked_invitations_do_not_work(alice, stranger):
    path = invited(alice)
    link = OneTimeLink.objects.get()
    OneTimeLink.objects.update(expires_at=timezone.now())
    assert stranger.get(path).status_code == 404
    OneTimeLink.objects.update(expires_at=timezone.now() + INVITATION_LIFETIME)
    assert stranger.get(path).status_code == 200
    alice.client.post(f"/account/people/invitations/{link.pk}/")
    assert stranger.get(path).status_code == 404


@each_case("hours", [-1, 1])
def test_a_clock_an_hour_off_costs_no_invitation(alice, stranger, hours):
    path = invited(alice)
    (link,) = OneTimeLink.objects.all()
    OneTimeLink.objects.update(expires_at=link.expires_at - timedelta(hours=hours))
    assert stranger.post(path, NEW).status_code == 302


def test_a_link_for_something_else_is_not_an_invitation(stranger):
    now = timezone.now()
    token = one_time_links.issue(OneTimeLink.WELCOME, now, timedelta(days=1))
    assert stranger.get(f"/join/{token}/").status_code == 404


@pytest.mark.promise("guesses at invitations are limited")
@pytest.mark.slow
def test_guesses_are_limited(stranger):
    statuses = [stranger.get(f"/join/guess{number}/").status_code for number in range(25)]
    assert statuses[:20] == [404] * 20
    assert set(statuses[20:]) == {429}


def test_the_number_of_invitations_is_limited(alice):
    for _time in range(MOST_INVITATIONS):
        people.invite(Role.GUEST, alice.user, timezone.now())
    answer = alice.client.post("/account/people/invite/", {"role": "guest"})
    assert answer.status_code == 422
    assert "too many" in words(answer, "[role=alert]")


def test_the_link_is_in_no_log_and_not_in_the_database(alice, caplog):
    path = invited(alice)
    token = path.strip("/").split("/")[-1]
    assert len(token) > 30
    assert token not in caplog.text
    assert token not in str(list(OneTimeLink.objects.values()))
    assert token not in alice.client.get("/account/server/").content.decode()


# Addresses


@pytest.fixture
def in_two_networks(monkeypatch):
    # This machine may be in any number of networks.
    monkeypatch.setattr(own, "lan", two_networks)


@pytest.mark.usefixtures("in_two_networks")
def test_a_link_made_at_this_machine_carries_the_addresses_of_its_networks(alice, settings):
    answer = alice.client.post("/account/people/invite/", {"role": "guest"})
    urls = [field["value"] for field in page(answer).select("input.mono")]
    assert [url.split("/join/")[0] for url in urls] == [
        f"http://{address}:{settings.PORT}" for address in two_networks()
    ]
    assert len(page(answer).select("svg.qr path")) == 2


def test_the_picture_of_a_link_has_each_square_of_its_code_and_nothing_more(alice):
    soup = page(alice.client.post("/account/people/invite/", {"role": "guest"}))
    url = soup.select_one("input.mono")["value"]
    rows = segno.make(url, error="m", micro=False).matrix
    picture = soup.select_one("svg.qr")
    assert picture["viewbox"] == f"0 0 {len(rows)} {len(rows)}"
    lines = re.findall(r"M(\d+) (\d+)\.5h(\d+)", picture.select_one("path")["d"])
    drawn = [
        (at, int(row))
        for start, row, length in lines
        for at in range(int(start), int(start) + int(length))
    ]
    dark = [
        (at, row)
        for row, squares in enumerate(rows)
        for at, is_dark in enumerate(squares)
        if is_dark
    ]
    assert sorted(drawn) == sorted(dark)


@pytest.mark.usefixtures("in_two_networks")
def test_each_link_of_an_invitation_can_be_copied(alice, settings):
    settings.HOST = "0.0.0.0"
    shown = page(alice.client.post("/account/people/invite/", {"role": "guest"}))
    buttons = shown.select("button[data-copy-field]")
    fields = [shown.find(id=each["data-copy-field"]) for each in buttons]
    assert fields == shown.select("input.mono")
    assert len(fields) == 2
    assert shown.select("script[src*='copying']")


@pytest.mark.usefixtures("in_two_networks")
def test_links_name_no_other_address_if_ferry_listens_on_localhost(alice, settings):
    settings.HOST = "127.0.0.1"
    answer = alice.client.post("/account/people/invite/", {"role": "guest"})
    (field,) = page(answer).select("input.mono")
    assert field["value"].startswith("http://localhost/join/")


def test_a_link_made_elsewhere_carries_the_address_in_the_bar(alice, settings):
    settings.TRUSTED_HOSTS = ["ferry.example"]
    answer = alice.client.post(
        "/account/people/invite/", {"role": "guest"}, headers={"host": "ferry.example:81"}
    )
    (field,) = page(answer).select("input.mono")
    assert field["value"].startswith("http://ferry.example:81/join/")


def two_networks():
    return ["192.168.1.20", "10.0.0.5"]
