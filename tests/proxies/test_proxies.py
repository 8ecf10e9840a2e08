"""The documented settings for nginx and Caddy, with both programs in front of Ferry."""

import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from tests.certificates import trusted
from tests.misbehaving import answers, head, serving
from tests.proxies.fronts import Front, proxy
from tests.running import PASSWORD, START_SECONDS, Ferry, free_port, running

pytestmark = pytest.mark.slow
EMAIL = "me@example.org"
PLACES = [(proxy, prefix) for proxy in ("nginx", "caddy") for prefix in ("", "/ferry")]


@dataclass(frozen=True)
class Reader:
    front: Front
    http: httpx.Client
    ferry: Ferry
    url: str
    access_log: Path

    def get(self, path: str, **kwargs) -> httpx.Response:
        return self.http.get(path, **kwargs)

    def sign_in(self) -> httpx.Response:
        page = self.get(f"{self.front.prefix}/signin/")
        token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', page.text)[1]
        form = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
        headers = {"Origin": self.url, "Referer": f"{self.url}{self.front.prefix}/signin/"}
        return self.http.post(f"{self.front.prefix}/signin/", data=form, headers=headers)


@pytest.fixture
def reader(known: Reader) -> Reader:
    """Return a reader that isn't signed in."""
    known.http.cookies.clear()
    return known


@pytest.fixture(scope="module", params=PLACES, ids="".join)
def place(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return a proxy, and the prefix below which it shows Ferry."""
    return request.param


@pytest.fixture(scope="module")
def ferry(place: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    """Run one Ferry for http and https: the proxy reports the scheme."""
    front = Front(place[0], "http", place[1])
    settings = front.settings | ({"ACCEL": "nginx"} if front.proxy == "nginx" else {})
    with running(tmp_path_factory.mktemp("ferry"), WEB_PROCESSES="1", **settings) as ferry:
        ferry.make_owner()
        ferry.say("account", "add", EMAIL, words=f"{PASSWORD}\n")
        yield ferry


@pytest.fixture(scope="module", params=["http", "https"])
def known(
    place: tuple[str, str],
    ferry: Ferry,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Reader]:
    front = Front(place[0], request.param, place[1])
    home, port = tmp_path_factory.mktemp("proxy"), free_port()
    trust = trusted(home, front.host)
    with proxy(front, home, ferry, port) as url, client(front, url, port, trust) as http:
        yield Reader(front, http, ferry, url, home / "access.log")


@contextmanager
def client(front: Front, url: str, port: int, trust: ssl.SSLContext) -> Iterator[httpx.Client]:
    """Yield a client that resolves the proxy's host to this machine."""
    transport = httpx.HTTPTransport(verify=trust, retries=0)
    with httpx.Client(
        base_url=url, transport=Here(transport, port), timeout=60, trust_env=False
    ) as http:
        wait_for(http, f"{front.prefix}/healthz")
        yield http


class Here(httpx.BaseTransport):
    def __init__(self, inner: httpx.HTTPTransport, port: int) -> None:
        self._inner, self._port = inner, port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        assert request.url.port == self._port, request.url
        request.url = request.url.copy_with(host="127.0.0.1")
        request.extensions["sni_hostname"] = host
        answer = self._inner.handle_request(request)
        request.url = request.url.copy_with(host=host)
        return answer

    def close(self) -> None:
        self._inner.close()


def wait_for(http: httpx.Client, path: str) -> None:
    """Send requests until the proxy answers, since it doesn't announce when it is ready."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            assert http.get(path).status_code == 200
        except httpx.ConnectError:
            assert time.monotonic() < deadline
        else:
            return


@pytest.mark.promise(
    "Ferry works behind nginx and Caddy", cases=["https-nginx/ferry", "http-caddy"]
)
def test_people_sign_in_and_all_addresses_keep_host_scheme_and_path(reader):
    prefix = reader.front.prefix
    first = reader.get(f"{prefix}/")
    assert first.headers["location"] == f"{prefix}/signin/?next={prefix}/"
    answer = reader.sign_in()
    assert answer.status_code == 302
    assert answer.headers["location"] == f"{prefix}/"
    cookies = answer.headers.get_list("set-cookie")
    assert cookies
    assert all(("Secure" in cookie) == (reader.front.scheme == "https") for cookie in cookies)
    page = reader.get(f"{prefix}/")
    assert page.status_code == 200
    style = re.search(r'href="([^"]+\.css)"', page.text)[1]
    assert style.startswith(f"{prefix}/static/")
    assert reader.get(style).status_code == 200


def test_all_of_the_installed_app_lies_below_the_prefix(reader):
    prefix = reader.front.prefix
    link = re.search(r'rel="manifest" href="([^"]+)"', reader.get(f"{prefix}/signin/").text)[1]
    facts = reader.get(link).json()
    assert facts["scope"] == facts["id"] == facts["start_url"] == f"{prefix}/"
    acts = [facts["share_target"]["action"], facts["file_handlers"][0]["action"]]
    acts.append(facts["protocol_handlers"][0]["url"])
    assert all(act.startswith(facts["scope"]) for act in acts)
    assert [reader.get(icon["src"]).status_code for icon in facts["icons"]] == [200] * 3


def test_files_go_in_and_out_in_pieces(reader):
    """Twenty megabytes: more than any proxy accepts by default, or keeps in memory."""
    prefix, content = reader.front.prefix, bytes(range(256)) * 80_000
    me, name = (EMAIL, PASSWORD), f"Fjord at noon, ü, {reader.front}.bin"
    files = {"file": (name, content)}
    sent = reader.http.post(f"{prefix}/rest/transfer/file", auth=me, files=files)
    assert sent.status_code == 200, sent.text
    listing = reader.get(f"{prefix}/rest/folder", auth=me).json()
    (file,) = (each for each in listing["files"] if each["name"] == name)
    link = reader.get(f"{prefix}/rest/file/{file['id']}", auth=me).headers["location"]
    assert link.startswith(f"{reader.url}{prefix}/content/")
    whole = reader.get(link)
    assert whole.content == content
    assert "x-accel-redirect" not in whole.headers
    part = reader.get(link, headers={"Range": "bytes=1000000-1000099"})
    assert part.status_code == 206
    assert part.content == content[1_000_000:1_000_100]
    assert "F" in part.headers["content-disposition"]


def test_a_link_takes_files_larger_than_any_form(reader):
    """Ferry doesn't read this file, since there is no such link, and may hang up first (502)."""
    link = f"{reader.front.prefix}/s/0123abcd/"
    sent = reader.http.post(f"{link}send/", files={"file": ("film.mkv", bytes(65 * 2**20))})
    assert sent.status_code in (302, 502)


def test_programs_use_the_drive(reader):
    """More than any form has, and a move, whose target is a whole URL."""
    content, root = bytes(65 * 2**20), f"{reader.front.prefix}/dav/"
    token = reader.ferry.manage("token", "add", "alice", "--for", "drive").strip()
    ask, name = partial(reader.http.request, auth=("any", token)), f"{reader.front}".encode().hex()
    assert ask("PUT", f"{root}a{name}.bin", content=content).status_code == 201
    target = {"Destination": f"{reader.url}{root}b{name}.bin"}
    assert ask("MOVE", f"{root}a{name}.bin", headers=target).status_code == 201
    assert f"<D:href>{root}b{name}.bin</D:href>" in ask("PROPFIND", root).text
    part = ask("GET", f"{root}b{name}.bin", headers={"Range": "bytes=9-11"})
    assert (part.status_code, part.content) == (206, bytes(3))
    assert ask("DELETE", f"{root}b{name}.bin").status_code == 204


SECRET = "dGhlIHNlY3JldCB3b3JkIGlzIGhlcnJpbmc"
SECRETS = [
    f"/s/{SECRET}/",
    f"/s/{SECRET}/send/?x={SECRET}",
    f"/s/{SECRET}/7/film.mkv",
    f"/welcome/{SECRET}/",
    f"/join/{SECRET}/",
    f"/pair/{SECRET}/",
    f"/stream/{SECRET}",
    f"/content/hls/1/7/{SECRET}/master.m3u8",
    f"/content/file/1/7/film.mkv?e=1&s={SECRET}",
    f"/signin/?next=/stream/{SECRET}",
]


def test_the_access_log_shows_no_links_that_grant_access(reader):
    prefix = reader.front.prefix
    headers = {"Referer": f"{reader.url}{prefix}/s/{SECRET}/", "HX-Current-URL": f"/s/{SECRET}/"}
    for path in SECRETS:
        assert reader.get(f"{prefix}{path}", headers=headers).status_code < 500
    reader.get(f"{prefix}/pair/?the-last-request")
    deadline = time.monotonic() + START_SECONDS
    while f"{prefix}/pair/***" not in (log := reader.access_log.read_text()).splitlines()[-1]:
        assert time.monotonic() < deadline, log
    assert SECRET not in log
    for shown in ("/s/***", "/welcome/***", "/join/***", "/content/***", "/signin/?***"):
        assert f"{prefix}{shown}" in log
    assert f"{prefix}/healthz" in log


def test_a_stranger_finds_no_way_round(reader):
    database = (reader.ferry.data_dir / "ferry.sqlite3").read_bytes()
    hidden = reader.get("/ferry-accel/ferry.sqlite3")
    assert database[:6] == b"SQLite"
    assert database[:6] not in hidden.content
    spoofed = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Host": "evil.example"}
    answer = reader.get(f"{reader.front.prefix}/", headers=spoofed)
    assert "evil.example" not in str(answer.headers) + answer.text
    assert "203.0.113.9" not in reader.ferry.log


@pytest.mark.parametrize("path", ["ferry.sqlite3", "secret_key", "library/blobs/../../secret_key"])
def test_nginx_serves_only_content_for_any_request(path, tmp_path):
    """The server behind nginx, which may have been taken over, asks for these files."""
    (tmp_path / "data/library/blobs").mkdir(parents=True)
    for name in ("ferry.sqlite3", "secret_key"):
        (tmp_path / "data" / name).write_text("the secret word is herring")
    front, port = Front("nginx", "http", ""), free_port()
    redirect = answers(head(X_Accel_Redirect=f"/ferry-accel/{path}"))
    with serving(redirect) as behind:
        ferry = SimpleNamespace(port=behind.port, data_dir=tmp_path / "data")
        with proxy(front, tmp_path, ferry, port), httpx.Client(trust_env=False) as http:
            url, deadline = f"http://127.0.0.1:{port}/", time.monotonic() + START_SECONDS
            while time.monotonic() < deadline:
                try:
                    assert "herring" not in http.get(url, timeout=60).text
                except httpx.ConnectError:
                    continue
                break
            assert behind.heads
