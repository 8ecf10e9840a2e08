"""A simple browser: it signs in, keeps its connection and cookies, and reads whole answers.

It uses http.client, since httpx takes longer to read an answer of 3 MB than Ferry to write it.
"""

import http.client
import re
import time
from http.cookies import SimpleCookie
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import StorageState

from webui.models import Role, User

PASSWORD = "a quiet harbour at noon"
# copyparty answers curl and unknown clients with plain text.
AGENT = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"
# Ferry closes a connection that is idle for 15 s, which may be while another program is measured.
IDLE_SECONDS = 10


class Got(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Browser:
    def __init__(self, url: str) -> None:
        self.url = url
        self._host = urlsplit(url).netloc
        self._connection = http.client.HTTPConnection(self._host, timeout=60)
        self._used_at = time.monotonic()
        self._cookies: dict[str, str] = {}

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self._cookies.items())

    @property
    def state(self) -> StorageState:
        """Return the cookies for a real browser, which continues this session."""
        at = {"domain": self._host.partition(":")[0], "path": "/"}
        cookies = [{"name": name, "value": value, **at} for name, value in self._cookies.items()]
        return {"cookies": cookies}

    def get(self, path: str, **headers: str) -> Got:
        return self._ask("GET", path, None, headers)

    def page(self, path: str, **headers: str) -> bytes:
        got = self.get(path, **headers)
        assert got.status == 200, f"{path} answers {got.status}"
        return got.body

    def post(self, path: str, form: dict[str, str]) -> Got:
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._ask("POST", path, urlencode(form), kind)

    def _ask(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Got:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"User-Agent": AGENT, "Accept": "text/html,*/*", "Cookie": self.cookie} | named
        if time.monotonic() - self._used_at > IDLE_SECONDS:
            self._connection.close()
        self._connection.request(method, path, body, sent)
        answer = self._connection.getresponse()
        for line in answer.headers.get_all("Set-Cookie") or []:
            self._cookies |= {name: each.value for name, each in SimpleCookie(line).items()}
        got = Got(answer.status, answer.headers, answer.read())
        self._used_at = time.monotonic()
        return got


def make_owner(name: str = "alice") -> User:
    return User.objects.filter(username=name).first() or User.objects.create_user(
        name, PASSWORD, Role.OWNER
    )


def signed_in(url: str) -> Browser:
    browser = Browser(url)
    form = browser.page("/signin/").decode()
    token = re.search(r'csrfmiddlewaretoken" value="([^"]+)', form)[1]
    fields = {"username": "alice", "password": PASSWORD, "csrfmiddlewaretoken": token}
    answer = browser.post("/signin/", fields)
    assert answer.status == 302, f"Signing in answers {answer.status}"
    return browser
