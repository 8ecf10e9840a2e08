"""How notices are sent, put off, and given up."""

import hmac
import json
from datetime import UTC, datetime, timedelta
from itertools import count

import httpx
import pytest
from django.db.models import Q
from django.utils import timezone

from tests.cases import each_case
from tests.webui.notices.receiver import Browser
from webui.models import Channel, Notice, Role
from webui.notices import channels, sending
from webui.people import people

pytestmark = pytest.mark.django_db
PUSH_URL = "https://push.example/device"
HOOK_URL = "https://hooks.example/a"


class Receiver:
    """What stands for the network: it takes messages, and answers as it is told."""

    def __init__(self) -> None:
        self.got = []
        self.status, self.headers = 201, {}

    def __call__(self, message):
        self.got.append(message)
        if not self.status:
            raise httpx.ConnectError("away")
        return httpx.Response(self.status, headers=self.headers)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def browser(alice) -> Browser:
    browser = Browser()
    form = browser.form(PUSH_URL) | {"topic": ["done", "failed", "space", "device"]}
    assert alice.client.post("/account/notices/device/", form).status_code == 302
    return browser


def add(person, kind="webhook", url=HOOK_URL, **facts: str) -> str:
    facts |= {"url": url, "site": "https://ferry.lan/"}
    return channels.add_server(person.user, kind, facts, ["done"], timezone.now())


def send_all(receiver, now: datetime | None = None) -> None:
    """Send in this thread, which has the test's transaction."""
    now = now or timezone.now()
    for pk in list(sending.find_due(now).values_list("pk", flat=True)):
        sending.send_one(pk, receiver, now)


def test_a_device_gets_a_message_that_webkit_shows_without_a_script(alice, browser, receiver, tell):
    tell(alice, "1", "done", "„Čaj” 茶.mkv")
    send_all(receiver)
    ((url, headers, body),) = receiver.got
    message = browser.read(body)
    assert (url, message["web_push"]) == (PUSH_URL, 8030)
    notification = message["notification"]
    assert notification["body"] == "„Čaj” 茶.mkv is in your files"
    assert notification["navigate"] == "http://localhost/transfers/"
    assert notification["app_badge"] == "1"
    assert headers["Topic"] == notification["tag"]
    assert len(headers["Topic"]) <= 32
    assert (headers["TTL"], headers["Urgency"]) == ("86400", "normal")
    assert headers["Content-Encoding"] == "aes128gcm"


def test_the_longest_name_still_fits(alice, browser, receiver, tell):
    tell(alice, "1", "done", "\N{PERFORMING ARTS}" * 2000)
    send_all(receiver)
    assert "notification" in browser.read(receiver.got[0].content)
    assert len(receiver.got[0].content) <= 4096


def test_a_webhook_is_signed(alice, receiver, tell):
    secret = add(alice)
    tell(alice, "1", "failed")
    send_all(receiver)
    ((url, headers, body),) = receiver.got
    signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
    assert (url, headers["X-Ferry-Signature"]) == (HOOK_URL, f"sha256={signature}")
    facts = json.loads(body)
    assert (facts["event"], facts["name"], facts["text"]) == ("failed", "Sintel", "Sintel failed")


def test_ntfy_and_apprise_get_their_own_forms(alice, receiver, tell):
    add(alice, "ntfy", "https://ntfy.example/sub/topic/", token="tk_secret")
    add(alice, "apprise", "https://apprise.example/notify/x")
    tell(alice, "1", "failed")
    send_all(receiver)
    (url, headers, body), (_url, _headers, apprise) = receiver.got
    assert (url, headers["Authorization"]) == ("https://ntfy.example/sub/", "Bearer tk_secret")
    assert json.loads(body)["topic"] == "topic"
    assert json.loads(apprise)["type"] == "failure"


def test_an_event_is_told_once(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    tell(alice, "1")
    send_all(receiver)
    send_all(receiver)
    tell(alice, "1")
    send_all(receiver)
    assert len(receiver.got) == 1


def test_people_get_only_what_they_chose(alice, bob, receiver):
    add(alice)
    Notice.tell(Q(user=alice.user), "1", "failed")
    Notice.tell(Q(user=bob.user), "2", "done")
    Notice.tell(Q(user=alice.user), "3", "done")
    assert [each.key for each in Notice.objects.all()] == ["3"]


@each_case("status", [404, 410])
def test_a_device_that_its_push_service_has_lost_is_deleted(alice, browser, receiver, tell, status):
    tell(alice, "1")
    receiver.status = status
    send_all(receiver)
    assert not Channel.objects.exists()


def test_a_busy_service_is_left_alone_for_as_long_as_it_asks(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    tell(alice, "2")
    now = timezone.now()
    receiver.status, receiver.headers = 429, {"Retry-After": "120"}
    send_all(receiver, now)
    send_all(receiver, now + timedelta(seconds=119))
    assert len(receiver.got) == 1
    receiver.status = 200
    send_all(receiver, now + timedelta(seconds=121))
    assert len(receiver.got) == 3
    assert Channel.objects.get().trouble == ""


def test_an_unreachable_server_gets_its_notices_later_and_old_ones_never(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    now, receiver.status = timezone.now(), 0
    for hours in range(30):
        send_all(receiver, now + timedelta(hours=hours * 1.01))
    count = len(receiver.got)
    assert 20 < count < 26
    assert Channel.objects.get().trouble == "no_connection"
    receiver.status = 200
    send_all(receiver, now + timedelta(hours=40))
    assert len(receiver.got) == count


def test_a_refused_notice_is_not_sent_again(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    receiver.status = 403
    for minutes in range(3):
        send_all(receiver, timezone.now() + timedelta(minutes=minutes))
    assert len(receiver.got) == 1
    assert Channel.objects.get().trouble == "refused"


def test_a_notice_whose_sender_was_killed_is_sent_again(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    now = timezone.now()
    assert sending.claim(Notice.objects.get(), now)
    send_all(receiver, now + timedelta(seconds=29))
    assert not receiver.got
    send_all(receiver, now + timedelta(seconds=31))
    assert len(receiver.got) == 1


@pytest.fixture
def sender(alice, receiver, tell, monkeypatch) -> sending.Sender:
    """Return a sender with three notices to send. Within a test's transaction, no pragma works."""
    monkeypatch.setattr(sending, "skip_syncs", lambda: None)
    add(alice)
    for number in range(3):
        tell(alice, str(number))
    return sending.Sender(receiver)


def test_a_sender_sends_all_that_waits(sender, receiver):
    sender.take_turn(Channel.objects.get().pk)
    assert len(receiver.got) == 3


def test_a_sender_that_stops_begins_nothing_more(sender, receiver):
    sender.stop()
    sender.take_turn(Channel.objects.get().pk)
    assert not receiver.got


def test_a_channel_gives_its_thread_to_others_after_its_turn(sender, receiver, monkeypatch):
    # A real turn would hold the test as well.
    clock = count(0, sending.TURN_SECONDS - 1)
    monkeypatch.setattr(sending.time, "monotonic", lambda: next(clock))
    sender.take_turn(Channel.objects.get().pk)
    assert len(receiver.got) == 1


def test_a_person_who_becomes_a_guest_is_told_nothing_that_waits(alice, bob, receiver, tell):
    form = Browser().form(PUSH_URL) | {"topic": ["done", "device"]}
    bob.client.post("/account/notices/device/", form)
    for kind in ("done", "device"):
        tell(bob, kind, kind)
    people.change_role(bob.user, Role.GUEST, alice.user)
    Notice.tell(Q(user=bob.user), "later", "done")
    send_all(receiver)
    assert Channel.objects.count() == 1
    assert sorted(Notice.objects.values_list("key", flat=True)) == ["device", "done"]
    assert len(receiver.got) == 1


def test_what_is_withdrawn_while_it_is_sent_is_not_sent_again(bob, receiver, tell):
    add(bob)
    tell(bob, "1", "done", "Alps")

    def answer(message):
        Notice.withdraw(bob.user)
        return httpx.Response(503)

    send_all(answer)
    send_all(receiver, timezone.now() + timedelta(hours=2))
    assert receiver.got == []


def test_of_two_workers_one_sends(alice, receiver, tell):
    add(alice)
    tell(alice, "1")
    (seen, now) = Notice.objects.get(), timezone.now()
    assert sending.claim(seen, now)
    assert not sending.claim(seen, now)


@each_case("hours", [-24 * 400, 24 * 400])
def test_a_notice_is_sent_when_the_clock_is_set(alice, receiver, tell, hours):
    receiver.got.clear()
    add(alice)
    tell(alice, "1")
    Notice.objects.update(send_at=timezone.now() + timedelta(hours=hours))
    Channel.objects.update(resumes_at=timezone.now() + timedelta(hours=hours))
    send_all(receiver)
    assert len(receiver.got) == 1


def test_another_secret_key_ends_the_channel(alice, receiver, tell, settings):
    add(alice)
    tell(alice, "1")
    settings.SECRET_KEY = "another"
    send_all(receiver)
    assert not receiver.got
    assert not Channel.objects.exists()


def test_a_device_that_signed_out_in_the_meantime_gets_nothing(alice, browser, receiver, tell):
    tell(alice, "1")
    Channel.objects.update(epoch="another")
    send_all(receiver)
    assert not receiver.got
    assert not sending.find_due(datetime.now(UTC)).exists()
