"""Row 19: a service that attacks its clients. People see a plain page, and the owner's credentials
go only to the service."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote, unquote

import pytest
from django.http import HttpResponse

from tests import misbehaving
from tests.cases import each_case
from tests.certificates import self_signed
from tests.misbehaving import Misbehaviour, Server, Wire, answers, head, serving, whole
from tests.people import SignedIn, page, words
from tests.webui.v1.test_misbehaving import HURRIED, PATIENT
from webui.connection import connection
from webui.connection.connection import Service, client_for
from webui.v1.connection import Patience

pytestmark = pytest.mark.django_db
find_place = connection.service_address

EMAIL, SECRET = "me@example.org", "herring in oil"
TOKEN = b64encode(f"{EMAIL}:{SECRET}".encode())
SECRETS = (TOKEN, SECRET.encode(), b"herring", EMAIL.encode(), b"me%40example")
MARKUP = "<img src=x onerror=alert(1)>"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 64
EVIL_IDS = ["../account", "7/../../account", "7?a", "7#a", "%2e%2e", "%2e%2e%2faccount", "7%3fa"]
# Other hosts learn no more from these headers than any web server does from a browser.
HARMLESS = {b"host", b"user-agent", b"accept", b"accept-encoding", b"connection"}


def listing(folder: int = 1, files: tuple[dict[str, object], ...] = (), **facts: object) -> bytes:
    known = {"id": folder, "parent_id": -1 if folder == 1 else 1, "name": "Kelp", "result": True}
    return json.dumps(known | {"folders": [], "files": list(files)} | facts).encode()


FILES = ({"id": 7, "name": "kelp.txt", "size": 9, "hash": "ab" * 20},)
WELL = answers(whole(listing(files=FILES)))


@dataclass
class Site:
    """Ferry as Alice sees it, with a service that answers as `server.misbehave` says."""

    server: Server
    alice: SignedIn

    def get(self, path: str) -> HttpResponse:
        return self.alice.client.get(path)

    def post(self, path: str, **form: str) -> HttpResponse:
        return self.alice.client.post(path, form)

    def shows_kelp(self) -> bool:
        answer = self.get("/")
        return answer.status_code == 200 and names(answer) == ["kelp.txt"]

    def turns(self, misbehave: Misbehaviour) -> None:
        self.server.misbehave = misbehave
        self.server.heads.clear()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return self_signed(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(WELL) as found:
        yield found


@pytest.fixture
def elsewhere() -> Iterator[Server]:
    with serving(answers(whole(PNG, Content_Type="image/png"))) as found:
        yield found


@pytest.fixture
def before(alice, settings, monkeypatch) -> Iterator[Callable[..., Site]]:
    """Yield a function that connects Ferry to a server like SERVICE_URL, but with less patience."""
    opened = []

    def site(server: Server, patience: Patience = PATIENT, scheme: str = "http") -> Site:
        settings.SERVICE_URL = (
            f"{scheme}://me%40example.org:herring%20in%20oil@127.0.0.1:{server.port}"
        )
        # No setting changes the patience: with its default, each of these services costs a minute.
        monkeypatch.setattr("webui.v1.connection.Patience", lambda: patience)
        place = find_place()
        service = Service(place.key, client_for(place), place.is_embedded)
        opened.append(service.v1)
        # The site keeps its service as long as the process lives; here each test has its own.
        monkeypatch.setattr(connection, "_service_at", lambda _place: service)
        return Site(server, alice)

    yield site
    for client in opened:
        client.close()


def names(answer: HttpResponse) -> list[str]:
    return [tag["title"] for tag in page(answer).select(".entry-name")]


def assert_plain(answer: HttpResponse, status: int) -> None:
    """Check that the page is plain, with nothing of the service's and no secret of the owner's."""
    assert answer.status_code == status
    assert words(answer, "h1")
    assert not page(answer).select("[onerror], [src=x]")
    for secret in (*SECRETS, b"Traceback"):
        assert secret not in answer.content


# Malformed answers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("answers a page", 502),
        ("answers a script", 502),
        ("answers a list", 502),
        ("nests 100,000 deep", 502),
        ("cuts the JSON off", 502),
        ("packs a bomb", 502),
        ("packs a bomb in a bomb", 502),
        ("announces 10 GB", 502),
        ("sends 10 GB of JSON", 502),
        ("sends spaces without end", 502),
        ("sends headers without end", 502),
        ("redirects to a script", 502),
        ("fails with a page", 503),
        ("refuses with a body without end", 502),
        ("misses with a body without end", 404),
        ("drips the status line", 503),
        ("drips headers", 503),
        ("drips the body", 503),
        ("stops in the body", 503),
    ],
)
def test_a_plain_page_is_shown_for_a_service_that(name, status, server, before):
    misbehave, _failure, reason = misbehaving.OF_CALLS[name]
    site = before(server)
    assert site.shows_kelp()
    site.turns(misbehave)
    if reason == "too_slow":
        before(server, HURRIED)
    assert_plain(site.get("/files/8/"), status)
    assert server.heads
    site.turns(answers(whole(listing(8))))
    before(server)
    assert site.get("/files/8/").status_code == 200


@pytest.mark.promise("no page of a service is passed on")
@pytest.mark.slow
@each_case("status", ["200 OK", "403 No", "404 No", "422 No", "500 No"])
@each_case("path", ["/files/8/", "/files/file/7/download/"])
def test_html_where_json_belongs_is_never_passed_on_as_a_page(path, status, before):
    with serving(WELL) as server:
        passes_no_page_on(before(server), path, status)


def passes_no_page_on(site, path, status):
    assert site.shows_kelp()
    site.turns(answers(whole(MARKUP.encode(), status, Content_Type="text/html")))
    answer = site.get(path)
    if status == "200 OK" and "download" in path:
        # A file may contain HTML. As a download, it never opens as a page of Ferry.
        assert answer["Content-Type"] == "application/octet-stream"
        assert answer["Content-Disposition"].startswith("attachment")
        assert b"".join(answer) == MARKUP.encode()
        return
    assert answer.status_code in (400, 403, 404, 422, 502, 503)
    assert_plain(answer, answer.status_code)


@pytest.mark.parametrize("status", ["403 No", "422 No", "500 No"])
def test_their_words_are_shown_as_text(status, server, before):
    site = before(server)
    assert site.shows_kelp()
    body = {"status_code": int(status[:3]), "reason_phrase": f"so {MARKUP}", "result": False}
    site.turns(answers(whole(json.dumps(body).encode(), status)))
    answer = site.get("/files/8/")
    assert_plain(answer, answer.status_code)
    assert answer.status_code != 500


# Ids that turn into paths


def test_rows_with_ids_that_would_be_paths_are_left_out(server, before):
    site = before(server)
    assert site.shows_kelp()
    evil = tuple({"id": each, "name": f"evil {each}", "hash": each} for each in EVIL_IDS)
    kind = {"thumb": "javascript:alert(1)", "name": MARKUP, "id": 9, "hash": "../account"}
    site.turns(answers(whole(listing(8, (*evil, *FILES, kind), folders=list(evil)))))
    answer = site.get("/files/8/")
    shown = page(answer)
    assert names(answer) == [MARKUP, "kelp.txt"]
    assert not shown.select("[onerror]")
    ours = re.compile(r"(#|/)[\w/.?=&#-]*")
    for tag in shown.select("[href], [src], [action], [formaction], [hx-get]"):
        for name in ("href", "src", "action", "formaction", "hx-get"):
            address = unquote(tag.get(name, "/"))
            assert ours.fullmatch(address), address
            assert ".." not in address


def test_a_folder_above_that_would_be_a_path_is_not_linked(server, before):
    site = before(server)
    assert site.shows_kelp()
    site.turns(answers(whole(listing(8, FILES, parent_id="../account", id="../account"))))
    answer = site.get("/files/8/")
    assert answer.status_code == 200
    assert names(answer) == ["kelp.txt"]
    assert b"../account" not in answer.content


@pytest.mark.slow
@each_case("evil", EVIL_IDS)
def test_ids_from_an_address_that_would_be_paths_reach_no_service(evil, server, before):
    site = before(server)
    assert site.shows_kelp()
    server.heads.clear()
    coded = quote(evil, safe="")
    for path in (f"{coded}/", f"file/{coded}/download/", f"folder/{coded}/zip/"):
        assert site.get(f"/files/{path}").status_code == 404
    for path in ("/files/0/delete/", "/files/0/zip/"):
        answer = site.post(path, entry=f"file-{evil}")
        assert answer.status_code < 500
    request_lines = [line.split(b" ")[:2] for line in server.heads]
    assert all(
        line in ([b"GET", b"/rest/folder"], [b"GET", b"/rest/folder/0"]) for line in request_lines
    )


# Redirects


def redirecting(*paths: bytes, to: str) -> Misbehaviour:
    def misbehave(wire: Wire) -> None:
        path = wire.head.split(b" ")[1]
        wire.send(
            head("302 Go", Location=to) if path.startswith(paths) else whole(listing(8, FILES))
        )

    return misbehave


def headers_of(request: bytes) -> set[bytes]:
    return {line.partition(b":")[0].lower() for line in request.split(b"\r\n")[1:] if line}


def assert_learns_nothing(elsewhere: Server) -> None:
    for request in elsewhere.heads:
        assert headers_of(request) <= HARMLESS
        assert not any(secret in request for secret in SECRETS)


def test_bytes_that_are_elsewhere_are_fetched_without_the_credentials(server, elsewhere, before):
    site = before(server)
    assert site.shows_kelp()
    to = f"http://127.0.0.1:{elsewhere.port}/rest/file/7/thumbnail?st=s"
    site.turns(redirecting(b"/rest/file/", to=to))
    answer = site.get(f"/files/file/7/thumb/{'ab' * 20}/")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert TOKEN in server.heads[-1]
    assert len(elsewhere.heads) == 1
    assert_learns_nothing(elsewhere)


def test_a_service_that_sends_on_from_host_to_host_gives_nothing_away(server, elsewhere, before):
    """The chain returns to the service and leaves it again: stored credentials could leak."""
    site = before(server)
    assert site.shows_kelp()
    back = f"http://127.0.0.1:{server.port}/content/7"
    away = f"http://127.0.0.1:{elsewhere.port}/rest/user"
    elsewhere.misbehave = answers(head("302 Go", Location=back))
    site.turns(redirecting(b"/rest/file/", b"/content/", to=away))
    assert site.get(f"/files/file/7/thumb/{'cd' * 20}/").status_code in (404, 503)
    signed = [request for request in server.heads if b"uthorization" in request]
    assert signed
    assert all(request.startswith(b"GET /rest/") for request in signed)
    assert elsewhere.heads
    assert_learns_nothing(elsewhere)


def test_a_listing_that_is_elsewhere_is_not_read_there(server, elsewhere, before):
    site = before(server)
    assert site.shows_kelp()
    site.turns(answers(head("302 Go", Location=f"http://127.0.0.1:{elsewhere.port}/rest/folder")))
    assert_plain(site.get("/files/8/"), 502)
    assert TOKEN in server.heads[-1]
    assert elsewhere.heads == []


@pytest.mark.parametrize("status", ["301 Go", "302 Go", "307 Go", "308 Go"])
def test_an_act_is_not_repeated_elsewhere(status, server, elsewhere, before):
    site = before(server)
    assert site.shows_kelp()
    site.turns(answers(head(status, Location=f"http://127.0.0.1:{elsewhere.port}/rest/folder")))
    assert_plain(site.post("/files/0/new/", name="Films"), 502)
    assert any(request.startswith(b"POST /rest/folder") for request in server.heads)
    assert elsewhere.heads == []


# The identity of the service


def test_nothing_is_sent_to_a_service_with_a_wrong_certificate(certificate, server, before):
    assert before(server).shows_kelp()
    with serving(WELL, certificate) as impostor:
        site = before(impostor, scheme="https")
        answer = site.get("/")
        assert_plain(answer, 503)
        assert "certificate" in words(answer, "main, body")
        assert impostor.heads == []
