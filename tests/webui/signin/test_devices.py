"""The devices that are signed in."""

import secrets
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import PASSWORD, page, words
from webui.models import Device
from webui.pruning import prune
from webui.signin import devices
from webui.signin.devices import SEEN_EVERY, is_due
from webui.signin.page import name_and_icon

pytestmark = pytest.mark.django_db
HTMX = {"hx-request": "true"}
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)


def phone_of(person, agent=PHONE):
    """Return a second browser, signed in through the form."""
    client = Client(headers={"host": "localhost", "user-agent": agent})
    form = {"username": person.user.username, "password": PASSWORD}
    assert client.post("/signin/", form).status_code == 302
    return client


def rows(answer):
    return [" ".join(row.get_text(" ").split()) for row in page(answer).select("#devices .rows li")]


def test_devices_are_listed_by_readable_name_with_this_one_first(bob):
    phone_of(bob)
    bob.client.get("/account/")
    listed = rows(bob.client.get("/account/"))
    assert len(listed) == 2
    assert "This device, 127.0.0.1" in listed[0]
    assert listed[1].startswith("Safari on iPhone Just now, 127.0.0.1")


def test_people_cannot_see_devices_of_others(bob, gwen):
    phone_of(bob)
    assert not any("iPhone" in row for row in rows(gwen.client.get("/account/")))


def test_a_device_that_is_signed_out_is_out_at_once(bob):
    phone = phone_of(bob)
    assert phone.get("/account/").status_code == 200
    device = Device.objects.get(agent=PHONE)
    answer = bob.client.post(f"/account/devices/{device.pk}/signout/", headers=HTMX)
    assert "Device signed out" in words(answer, "[role=status]")
    assert not any("iPhone" in row for row in rows(answer))
    assert phone.get("/account/").status_code == 302
    assert bob.client.get("/account/").status_code == 200


def test_people_cannot_sign_out_devices_of_others(bob, gwen):
    phone = phone_of(bob)
    device = Device.objects.get(agent=PHONE)
    gwen.client.post(f"/account/devices/{device.pk}/signout/")
    assert phone.get("/account/").status_code == 200


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
def test_all_others_are_signed_out_and_this_device_stays(bob, headers):
    phones = [phone_of(bob), phone_of(bob)]
    bob.client.get("/")
    answer = bob.client.post("/account/devices/signout/", headers=headers, follow=True)
    said = words(answer, "[role=status]" if headers else "#toasts")
    assert "All other devices signed out" in said
    assert bob.client.get("/account/").status_code == 200
    assert [phone.get("/account/").status_code for phone in phones] == [302, 302]
    assert len(rows(answer)) == 1
    assert page(answer).select_one('form[action$="/devices/signout/"]') is None


def test_a_new_password_leaves_this_device_alone_in_the_list(bob):
    phone_of(bob)
    new = "a louder harbour at night"
    form = {"old_password": PASSWORD, "password": new, "password_again": new}
    bob.client.get("/")
    bob.client.post("/account/password/", form)
    assert Device.objects.count() == 1
    assert len(rows(bob.client.get("/account/"))) == 1


def test_signing_out_removes_the_device_from_the_list(bob):
    phone = phone_of(bob)
    phone.post("/signout/")
    assert not Device.objects.filter(agent=PHONE).exists()


def test_a_session_that_ended_is_not_listed_and_forgotten_in_time(bob):
    phone = phone_of(bob)
    Session.objects.filter(session_key=phone.session.session_key).update(
        expire_date=timezone.now() - timedelta(seconds=1)
    )
    assert not any("iPhone" in row for row in rows(bob.client.get("/account/")))
    prune(timezone.now())
    assert not Device.objects.filter(agent=PHONE).exists()


def test_being_seen_is_written_once_in_a_while():
    key, now = secrets.token_hex(), timezone.now()
    assert is_due(key, now)
    assert not is_due(key, now + SEEN_EVERY / 2)
    assert is_due(key, now + SEEN_EVERY)


@pytest.mark.slow
def test_ten_thousand_sessions_make_no_long_page(bob):
    now = timezone.now()
    keys = [f"key{number:05}" for number in range(10_000)]
    Session.objects.bulk_create(
        Session(session_key=key, session_data="", expire_date=now + timedelta(days=1))
        for key in keys
    )
    Device.objects.bulk_create(
        Device(
            user=bob.user,
            session_key=key,
            agent="",
            address="",
            first_seen_at=now,
            last_seen_at=now,
        )
        for key in keys
    )
    listed = rows(bob.client.get("/account/"))
    assert len(listed) < 30
    assert listed[-1].startswith("and 9,98")
    own_key = bob.client.session.session_key
    devices.sign_out(bob.user.devices.exclude(session_key=own_key))
    assert Session.objects.count() == 1


WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
TAB = f"Mozilla/5.0 (Linux; Android 15; SM-X910) {WEBKIT} SamsungBrowser/28.0 Chrome/130.0"
AGENTS = {
    PHONE: ("Safari on iPhone", "smartphone"),
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Firefox/140.0": ("Firefox on Linux", "laptop"),
    f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/140.0 Edg/140.0": ("Edge on Windows", "laptop"),
    f"{TAB} Safari/537.36": ("Samsung Internet on Android", "tablet"),
    f"Mozilla/5.0 (Linux; Android 15; Pixel 9) {WEBKIT} Chrome/140.0 Mobile Safari/537.36": (
        "Chrome on Android",
        "smartphone",
    ),
    "Mozilla/5.0 (Linux; Android 12; Some TV) Chrome/120.0 Safari/537.36": ("Chrome on TV", "tv"),
    "": ("Unknown browser", "laptop"),
    "<script>alert(1)</script>": ("Unknown browser", "laptop"),
}


@each_case("agent", AGENTS)
def test_a_device_has_a_readable_name(agent):
    assert name_and_icon(agent) == AGENTS[agent]


def test_a_device_that_signs_itself_out_has_made_a_bad_request(alice, caplog):
    alice.client.get("/account/")
    own = alice.user.devices.get()
    answer = alice.client.post(f"/account/devices/{own.pk}/signout/")
    assert answer.status_code == 400
    assert "ERROR" not in caplog.text
