"""Row 27: a header, path, or query that can't be read is its sender's mistake, not an error.

The tests walk all URLs of the site, of the pages behind links, and of the service, so that a new
URL is covered.
"""

import io
import logging
import re
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import pytest
from django.conf import settings as ours
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from config.embedded import upstream
from config.wsgi import application
from service.accounts import accounts
from service.content import archive_plans, signed_links
from tests.cases import each_case
from tests.people import PASSWORD, SignedIn
from tests.service.builders import NOW, a_file, put
from tests.service.builders import alice as an_account
from tests.webui.shares.linked import make_link
from webui import visitor_urls

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TOKEN = "a" * 32
FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
TUS = "application/offset+octet-stream"
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
PROXY = "127.0.0.1"


@dataclass(frozen=True)
class Case:
    """What a request has besides its URL and its caller's credentials."""

    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    query: str = ""
    # In place of the parameters of the URL, if this fits them.
    word: str = ""
    number: str = ""


URLS = ["http://[", "http://[::", "http://[v1.x", "//\u2100/", "http%3A//%5B?q=%00"]
# Each list of broken values is used up in turn.
BROKEN = {
    "Referer": URLS,
    "HX-Current-URL": URLS,
    "HX-Current-URL-URI-AutoEncoded": ["true", "false"],
    "HX-Request": ["true", "\xff"],
    "HX-Target": ["\xff#[", "a" * 4000],
    "HX-Trigger": ["[", "look", "%00"],
    "Accept": ["/", "text/html;q=x", ";;;", ",", "\xff"],
    "Accept-Encoding": ["gzip;q=x", "\xff", ","],
    "Accept-Language": ["*-*", "de;q=9", "x" * 4000, "\xff", ",;,"],
    "User-Agent": ["\xff", "x" * 4000, ""],
    "Range": ["bytes=", "bytes=-", "bytes=9-1", f"bytes={'9' * 900}-", "\xff=1"],
    "If-Range": ["W/", '"', "\xff", "Mon, 99 Foo 20000"],
    "If-Modified-Since": ["Mon, 99 Foo 20000", "x", "Sun, 06 Nov 99999 08:49:37 GMT", "\xff"],
    "If-Unmodified-Since": ["x", "\xff", "Sun, 06 Nov 99999 08:49:37 GMT"],
    "If-None-Match": ['"', "W/", "\xff", ",,,"],
    "X-Forwarded-For": ["[::", "1.2.3.4:x", ",", "\xff", "fe80::1%\xff"],
    "X-Forwarded-Proto": ["https", "gopher", "\xff", "http,https"],
    "X-Request-Id": ["\xff", "x" * 4000],
    "X-Requested-With": ["\xff", "ferry"],
    "X-File-Size": ["-1", "9" * 30, "\xb2", "1e3"],
    "Cache-Control": ["\xff", "max-age=0", "="],
    "Save-Data": ["\xff"],
    "Upgrade": ["\xff"],
}
NUL = f'{ours.SESSION_COOKIE_NAME}="\\000aaaaaaaaaa"'
COOKIES = [
    NUL,
    "=;=",
    "\xff=\xff",
    "ferry_device_8000=a:b:c; ferry_theme_8000=[",
    'a="',
    "x" * 4000,
]
HOSTS = ["localhost:99999", "localhost:", "[::1", "[::1]:x", "\xff", "", "localhost/x", "a b"]
TYPES = [
    MULTIPART,
    f"{MULTIPART}; boundary=",
    f"{MULTIPART}; boundary={'b' * 4000}",
    f"{MULTIPART}; boundary=\xff",
    f"{MULTIPART}; boundary*=nonsense''x",
    f"{MULTIPART}; boundary*=idna''%ff",
    f"{MULTIPART}; boundary=x; boundary*=y; boundary*0=z",
    f"{MULTIPART}; boundary=x; charset=hex",
    f"{MULTIPART}; boundary=x; charset=undefined",
    f"{FORM}; charset=hex",
    f'{FORM}; Charset="idna"',
    f"{FORM}; charset=unicode_escape",
    f"{FORM}; charset=utf-7",
    f"{FORM}; charset*=nonsense''%ff",
    f"{FORM}; charset*0=undef; charset*1=ined",
    "application/json; charset=zip",
    "\xff",
    ";",
    "a/b;*=",
]
PART = b'--x\r\nContent-Disposition: form-data; name="a"%b\r\n\r\n1\r\n--x--\r\n'
PARTS = [
    b"--x",
    b"--x\r\n\r\n--x--",
    b"--x\r\n" + b"a" * 9000,
    PART % b"; a*=1; a*0=2",
    PART % b"; filename*=idna''%ff",
    PART % b"\r\nContent-Type: text/plain; charset=hex",
    PART % b"\r\nContent-Transfer-Encoding: base64",
]
FIELDS = b"name=%ed%a0%80&code=%00&text=%00%ff&entry=%00&next=http://[&url=http://[&a=+ADgA-\\ud800"
NAMES = re.findall(
    r"\w+",
    "all at before cleared e enc entry folder from held i id in lang large magnet mark next page q "
    "s seen sort text title until url view",
)
QUERIES = [
    "&".join(f"{name}={value}" for name in NAMES)
    for value in ("%00", "%ff%fe", "%ed%a0%80", "http://[", "9" * 5000, "-1", "1e999", "%")
]
WORDS = [("\0", "9" * 30), ("\xff", "9" * 5000), ("\u202e\ud7ff", "0"), ("a" * 4000, "-1")]
AUTHORIZATIONS = ["Basic", "Basic \xff", "Basic =", "Bearer \xff", "Bearer", "\xff", "Digest a=b"]
OFFSETS = ["\xb2", "-1", "9" * 30, ""]


def cases() -> Iterator[Case]:
    for number in range(max(map(len, BROKEN.values()))):
        headers = {name: values[number % len(values)] for name, values in BROKEN.items()}
        yield Case("GET", headers)
        yield Case("POST", headers | {"Content-Type": FORM}, FIELDS)
    yield from (Case("GET", {"Cookie": each}) for each in COOKIES)
    yield from (Case("GET", {"Host": each}) for each in HOSTS)
    yield from (Case("GET", {"X-Forwarded-Host": each}) for each in HOSTS)
    yield from (Case("POST", {"Content-Type": each}, FIELDS) for each in TYPES)
    yield from (Case("GET", {"Content-Type": each}) for each in TYPES if "charset" in each)
    yield from (Case("POST", {"Content-Type": f"{MULTIPART}; boundary=x"}, each) for each in PARTS)
    yield from (Case("POST", {"Origin": each}) for each in (*URLS, "null", "", "\xff"))
    yield from (Case("GET", query=each) for each in QUERIES)
    yield from (Case(word=word, number=number) for word, number in WORDS)
    yield from (Case("GET", {"Authorization": each}) for each in AUTHORIZATIONS)
    yield from (Case("POST", {"Authorization": each}) for each in AUTHORIZATIONS)
    for each in OFFSETS:
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": each, "Upload-Offset": each}
        yield Case("PATCH", headers | {"Content-Type": TUS})
        yield Case("POST", headers | {"Upload-Length": "1", "Upload-Metadata": f"filename {each}"})


CASES = list(cases())
CALLERS = 5


@contextmanager
def one_connection() -> Iterator[None]:
    """Keep the test's connection, as Django's own client does: these signals would close it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in (request_started, request_finished):
            signal.connect(close_old_connections)


def ask(target: str, case: Case, credentials: dict[str, str]) -> int:
    """Send a request through all of Ferry, as gunicorn does, and return the status."""
    path, _, query = target.partition("?")
    environ = {
        "REQUEST_METHOD": case.method,
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": "&".join(filter(None, [query, case.query])),
        "REMOTE_ADDR": PROXY,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "CONTENT_LENGTH": str(len(case.body)),
        "HTTP_HOST": "localhost",
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(case.body),
        "wsgi.errors": io.StringIO(),
    }
    for name, value in {**credentials, **case.headers}.items():
        key = name.upper().replace("-", "_")
        environ[key if key == "CONTENT_TYPE" else f"HTTP_{key}"] = value
    status: list[str] = []
    response: Any = application(environ, lambda line, _headers: status.append(line))
    try:
        for _piece in response:
            pass
    finally:
        if hasattr(response, "close"):
            response.close()
    return int(status[0].split()[0])


def routes(patterns: list[Any], before: str) -> Iterator[str]:
    for entry in patterns:
        route = before + str(entry.pattern).removeprefix("^")
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, route)
        else:
            yield route


class World:
    """A Ferry with something behind its URLs, and with people of all roles."""

    def __init__(self, people: dict[str, SignedIn], storage: Any, store: Any) -> None:
        accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), NOW)
        account = an_account(password=PASSWORD)
        file, now = a_file(account, "notes.txt", blob=put(store)), timezone.now()
        folder, self._film = storage.folder("Films").id, storage.file("film.mp4").id
        self._folder = folder
        self._token = make_link(people["member"], folder).strip("/").rpartition("/")[2]
        key = b64encode(f"{account.email}:{PASSWORD}".encode()).decode()
        self.callers = {"stranger": {}, "client": {"Authorization": f"Basic {key}"}}
        self.callers |= {role: {"Cookie": session_of(each)} for role, each in people.items()}
        for each in self.callers.values():
            csrf = f"{ours.CSRF_COOKIE_NAME}={TOKEN}"
            each |= {"Cookie": "; ".join([*filter(None, [each.get("Cookie")]), csrf])}
            each |= {"X-CSRFToken": TOKEN}
        self.routes = [
            *routes(get_resolver().url_patterns, "/"),
            *routes(visitor_urls.urlpatterns, f"/s/{self._token}/"),
            signed_links.file_link(account, file, now=now),
            archive_plans.create_link(account, [], [file.pk], "Films", now=now),
            next(f"/static/{path.name}" for path in ours.STATIC_ROOT.iterdir() if path.is_file()),
        ]

    def path(self, route: str, case: Case) -> str:
        return PARAMETER.sub(lambda match: self._argument(*match.groups(), case), route)

    def _argument(self, kind: str | None, name: str, case: Case) -> str:
        """Return an argument. A new converter needs a value here."""
        return {
            "int": case.number or "1",
            "id": case.number or "1",
            "slug": quote(case.word) or TOKEN,
            "path": quote(case.word) or TOKEN,
            "str": quote(case.word) or (self._token if name == "token" else TOKEN),
            "site_key": quote(case.word) or TOKEN,
            "site_id": str({"folder": self._folder, "file": self._film}.get(name, 7)),
            "site_entry": f"file-{self._film}",
            "site_transfer": "t7",
            "site_version": "abc",
        }[kind or "str"]


def session_of(person: SignedIn) -> str:
    name = ours.SESSION_COOKIE_NAME
    return f"{name}={person.client.cookies[name].value}"


@pytest.fixture
def people(alice, bob, gwen) -> dict[str, SignedIn]:
    return {"owner": alice, "member": bob, "guest": gwen}


@pytest.fixture
def world(people, storage, library_folder, settings) -> World:
    settings.TRUSTED_PROXIES = [ip_network(PROXY)]
    return World(people, storage, library_folder)


def check(world: World, shift: int, caplog: pytest.LogCaptureFixture) -> None:
    """Send each URL, for each caller, the case whose turn it is."""
    failures = []
    for number, route in enumerate(world.routes):
        for turn, (caller, credentials) in enumerate(world.callers.items()):
            case = CASES[(number + turn + shift) % len(CASES)]
            path = world.path(route, case)
            caplog.clear()
            before = transaction.savepoint()
            with one_connection():
                status = ask(path, case, credentials)
                # No worker runs, so that some URLs of media answer 503 to everyone.
                is_well = status < 500 or status == ask(path, Case(), credentials) == 503
            transaction.savepoint_rollback(before)
            errors = [
                line.getMessage() for line in caplog.records if line.levelno > logging.WARNING
            ]
            if errors or not is_well:
                failures.append(f"{status} {caller} {path[:100]!a} {case!a:.400} {errors}")
    assert not failures, "\n".join(failures)


@pytest.mark.promise("what a stranger's headers say is never an error of Ferry")
def test_no_url_fails_on_what_it_cannot_read(world, caplog):
    check(world, 0, caplog)


@each_case("shift", range(CALLERS, len(CASES), CALLERS))
def test_no_url_fails_on_any_case(world, caplog, shift):
    """With the test above, each URL gets each case from one of the callers."""
    check(world, shift, caplog)
