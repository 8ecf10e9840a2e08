"""Row 8: addresses for notices, which people and browsers choose."""

import time

import httpx
import pytest

from tests.attacks.test_08_ssrf import ELSEWHERE, OTHER_SCHEMES, OWN
from tests.cases import each_case
from tests.misbehaving import answers, serving, then_dripping, whole
from tests.webui.notices.receiver import Browser
from webui.models import Channel
from webui.notices import sending
from webui.notices.messages import Message

pytestmark = pytest.mark.django_db
HOSTILE = [
    *(f"https://{host}/x" for host in (*OWN, *ELSEWHERE)),
    *OTHER_SCHEMES,
    *("https://a:b@push.example/", "https://push.example:22/", "https://push.example/\r\nX: y"),
    *("https://push.example/ x", "https://push.example/" + "x" * 1000, "", "push.example"),
]


@pytest.fixture(autouse=True)
def _own_client():
    sending.client.cache_clear()
    yield
    sending.client.cache_clear()


@pytest.mark.promise("no notice goes to a private address")
@pytest.mark.slow
@each_case("url", HOSTILE)
def test_no_private_address_is_accepted(alice, url):
    device = Browser().form(url)
    assert alice.client.post("/account/notices/device/", device).status_code == 422
    for kind in ("webhook", "ntfy", "apprise"):
        form = {"kind": kind, "url": url}
        assert alice.client.post("/account/notices/add/", form).status_code == 422
    assert not Channel.objects.exists()


def test_push_services_need_https(alice):
    device = Browser().form("http://push.example/x")
    assert alice.client.post("/account/notices/device/", device).status_code == 422


def test_a_name_that_resolves_to_this_machine_is_not_contacted(monkeypatch):
    """No resolver of a test knows such a name."""
    with serving(answers(whole(b""))) as server:
        address = [(2, 1, 6, "", ("127.0.0.1", server.port))]
        monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_options: address)
        with pytest.raises(httpx.UnsupportedProtocol):
            sending.post(Message(f"http://public.example:{server.port}/", {}, b"x"))
        assert not server.heads


def test_redirects_are_not_followed(settings):
    settings.NOTICE_HOSTS = ["127.0.0.1"]
    moved = whole(b"", "307 Moved", Location="http://127.0.0.1:1/")
    with serving(answers(moved)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        assert sending.post(Message(url, {}, b"x")).status_code == 307


def test_cookies_are_not_kept_for_the_next_person(settings):
    settings.NOTICE_HOSTS = ["127.0.0.1"]
    with serving(answers(whole(b"", **{"Set-Cookie": "session=alices"}))) as server:
        message = Message(f"http://127.0.0.1:{server.port}/", {}, b"x")
        for _person in range(2):
            sending.post(message)
    assert len(server.heads) == 2
    assert not any(b"cookie" in head.lower() for head in server.heads)


def test_a_server_that_drips_its_answer_holds_no_thread_for_long(settings, monkeypatch):
    """The real deadline would hold the test as well."""
    settings.NOTICE_HOSTS = ["127.0.0.1"]
    monkeypatch.setattr(sending, "CALL_SECONDS", 0.5)
    began_at = time.monotonic()
    with serving(then_dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n")) as server:
        url = f"http://127.0.0.1:{server.port}/"
        with pytest.raises(httpx.HTTPError):
            sending.post(Message(url, {}, b"x"))
    assert time.monotonic() - began_at < 5


def test_an_owner_can_allow_a_host_of_the_lan(alice, settings):
    settings.NOTICE_HOSTS = ["192.168.0.7"]
    for url, status in {"http://192.168.0.7:8090/t": 200, "http://192.168.0.8/t": 422}.items():
        answer = alice.client.post("/account/notices/add/", {"kind": "ntfy", "url": url})
        assert answer.status_code == status
