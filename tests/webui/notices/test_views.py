"""The Notifications screen, and feeds."""

from datetime import timedelta
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest
from django.test import Client
from django.utils import timezone

from tests.cases import each_case
from tests.people import PASSWORD, Stranger, make_person, page, typed_password, words
from tests.webui.notices.receiver import Browser
from webui.models import Channel, Device, Notice, Role
from webui.notices import channels

pytestmark = pytest.mark.django_db
PATH = "/account/notices/"
ATOM = "{http://www.w3.org/2005/Atom}"


def make_feed(person) -> str:
    form = {"kind": "feed", "topic": ["done", "failed"]}
    shown = page(person.client.post(f"{PATH}add/", form))
    return urlsplit(shown.select_one("#notice-secret")["value"]).path


def test_a_webhooks_secret_is_shown_once(alice):
    form = {"kind": "webhook", "url": "https://hooks.example/a", "topic": "done"}
    secret = page(alice.client.post(f"{PATH}add/", form)).select_one("#notice-secret")["value"]
    assert len(secret) > 32
    shown = alice.client.get(PATH)
    assert secret not in shown.content.decode()
    assert "https://hooks.example/a" not in shown.content.decode()
    assert words(shown, "#channels b") == "Webhook, signed (hooks.example)"
    stored = str(Channel.objects.values())
    assert secret not in stored
    assert "hooks.example/a" not in stored


def test_channels_that_last_need_the_password(alice):
    typed_password(alice.client, ago=timedelta(hours=1))
    answer = alice.client.post(f"{PATH}add/", {"kind": "feed"})
    assert page(answer).select_one("[name=sealed_form]")
    assert not Channel.objects.exists()


def test_the_feed_lists_what_happened_for_anyone_with_its_address(alice, tell):
    path = make_feed(alice)
    tell(alice, "1", "done", "<&> Čaj")
    answer = Stranger(headers={"host": "localhost"}).get(path)
    feed = ET.fromstring(answer.content)
    assert [each.text for each in feed.iterfind(f"{ATOM}entry/{ATOM}title")] == [
        "<&> Čaj is in your files"
    ]
    assert answer["Content-Type"].startswith("application/atom+xml")
    token = path.split("/")[2]
    assert token not in answer.content.decode()
    assert token not in answer.get("ETag", "")


def test_a_feed_never_waits_to_be_sent(alice, tell):
    make_feed(alice)
    tell(alice, "1")
    assert Notice.objects.get().send_at is None


def test_an_unknown_feed_counts_as_a_guess(db):
    client = Stranger(headers={"host": "localhost"})
    assert 429 in [client.get("/feed/guess/").status_code for _turn in range(60)]


def test_a_removed_feed_is_gone(alice):
    path = make_feed(alice)
    assert alice.client.post(f"{PATH}{Channel.objects.get().pk}/remove/").status_code == 302
    assert Stranger(headers={"host": "localhost"}).get(path).status_code == 404


def test_people_neither_see_nor_change_the_channels_of_others(alice, bob):
    make_feed(alice)
    pk = Channel.objects.get().pk
    assert page(bob.client.get(PATH)).select_one("#channels") is None
    bob.client.post(f"{PATH}{pk}/test/")
    bob.client.post(f"{PATH}{pk}/remove/")
    assert Channel.objects.exists()
    assert not Notice.objects.exists()


def test_guests_are_told_of_devices_only(gwen):
    form = Browser().form("https://push.example/x") | {"topic": ["done", "space", "device"]}
    gwen.client.post(f"{PATH}device/", form)
    assert Channel.objects.get().topics == "device"
    assert page(gwen.client.get(PATH)).select_one("#other") is None


def test_a_new_device_is_announced_to_the_others(alice):
    make_feed(alice)
    Channel.objects.update(topics="device")
    form = {"username": "alice", "password": PASSWORD}
    Client(headers={"host": "localhost"}).post("/signin/", form)
    assert [each.kind for each in Notice.objects.all()] == ["device"]
    assert Notice.objects.get().subject == "127.0.0.1"


def test_a_device_that_signs_out_is_told_nothing_more(alice):
    alice.client.post(f"{PATH}device/", Browser().form("https://push.example/x"))
    assert Channel.alive().exists()
    alice.client.post("/signout/")
    assert not Channel.objects.exists()


def test_a_device_stays_when_its_person_changes_the_password_there(alice):
    alice.client.post(f"{PATH}device/", Browser().form("https://push.example/x"))
    new = "a louder harbour at night"
    form = {"old_password": PASSWORD, "password": new, "password_again": new}
    alice.client.post("/account/password/", form)
    assert Channel.alive().exists()


def test_the_next_person_of_a_browser_takes_its_push_service_over(alice, bob):
    for person in (alice, bob):
        person.client.post(f"{PATH}device/", Browser().form("https://push.example/x"))
    assert Channel.objects.get().user == bob.user


def test_removed_people_are_told_nothing(alice):
    make_feed(olga := make_person("olga", Role.MEMBER))
    alice.client.post(f"/account/people/{olga.user.pk}/remove/")
    assert not Channel.objects.exists()


def test_nobody_collects_channels_without_end(alice):
    for _turn in range(channels.MOST_EACH):
        channels.add_feed(alice.user, {"site": "https://ferry.lan/"}, [], timezone.now())
    answer = alice.client.post(f"{PATH}add/", {"kind": "feed"})
    assert answer.status_code == 422
    assert Channel.objects.count() == channels.MOST_EACH


@each_case("kind", ["", "device", "smtp"])
def test_unknown_kinds_are_refused(alice, kind):
    form = {"kind": kind, "url": "https://hooks.example/a"}
    assert alice.client.post(f"{PATH}add/", form).status_code == 422


def test_rows_are_pruned(alice, tell):
    make_feed(alice)
    tell(alice, "1")
    alice.client.post(f"{PATH}device/", Browser().form("https://push.example/x"))
    Device.objects.all().update(session_key="gone")
    Notice.prune(timezone.now() + timedelta(days=31))
    assert not Notice.objects.exists()
    assert [each.kind for each in Channel.objects.all()] == ["feed"]
