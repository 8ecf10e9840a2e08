import base64
import errno
import logging

from django.db import OperationalError
from django.test import Client
from django.urls import URLPattern, get_resolver

from service.api import urls
from service.api.endpoints import Nowhere
from service.library import library
from tests.cases import each_case
from tests.service.api.conftest import PASSWORD
from tests.service.api.reading import sample, word
from tests.service.builders import a_file, a_folder

NOWHERE = [
    "/rest/nothing",
    "/rest/folder/abc",
    "/rest/folder/-1",
    "/rest/folder/٣",
    "/rest/folder/1.0",
    "/rest/folder/9223372036854775808",
    "/rest/folder/" + "9" * 400,
    "/rest/file",
    "/rest/file/..%2f..",
    "/rest/file/1%0a",
    "/rest/file/%00",
    "/rest/file/%ff",
    "/rest/folder/1/rename/x",
]


def endpoints() -> list[URLPattern]:
    return [each for each in urls.urlpatterns if not isinstance(each.callback, Nowhere)]


@each_case("path", NOWHERE)
def test_an_unknown_path_is_not_found(path, api):
    for method in ("GET", "POST", "DELETE", "PUT", "HEAD"):
        answer = api.request(method, path)
        assert answer.status_code == 404
        assert method == "HEAD" or answer.json() == sample("error.http404")


def test_the_largest_id_is_an_id(api):
    assert word(api.get("/rest/folder/9223372036854775807")) == (404, "not_found")


@each_case("pattern", endpoints())
def test_a_wrong_method_gets_the_list_of_allowed_ones(pattern, api):
    path = "/" + "".join("1" if "<" in part else part for part in split(str(pattern.pattern)))
    answer = api.patch(path)
    assert word(answer) == (405, "method_not_allowed")
    allowed = set(answer.headers["allow"].split(", "))
    assert allowed == set(pattern.callback.allowed)
    assert ("HEAD" in allowed) == ("GET" in allowed)


def split(pattern: str) -> list[str]:
    return pattern.replace("<", "\n<").replace(">", ">\n").split("\n")


@each_case("path", ["folder", "folder/{folder}", "file/{file}", "user", "transfer"])
def test_head_says_what_get_would(path, api, account):
    ids = {"folder": a_folder(account).pk, "file": a_file(account).pk}
    url = "/rest/" + path.format(**ids)
    got, head = api.get(url), api.head(url)
    assert head.status_code == got.status_code < 400
    assert head.content == b""
    assert head.headers == got.headers


@each_case("path", ["", "folder", "folder/0", "user", "transfer", "openapi.json"])
def test_a_slash_at_the_end_changes_nothing(path, api):
    plain, slashed = api.get(f"/rest/{path}"), api.get(f"/rest/{path}//")
    assert (slashed.status_code, slashed.content) == (200, plain.content)
    assert word(api.post("/rest/folder/")) == word(api.post("/rest/folder"))


def test_an_exception_yields_json_and_a_line_in_the_log(api, monkeypatch, caplog):
    def breaks(*_args):
        raise ZeroDivisionError("secret detail")

    # No known request makes the view fail.
    monkeypatch.setattr(library, "folder", breaks)
    with caplog.at_level(logging.ERROR, "ferry.service"):
        answer = api.get("/rest/folder")
    assert word(answer) == (500, "internal_error")
    assert "secret" not in answer.text
    assert "ZeroDivisionError" in caplog.text


class CauseError(Exception):
    def __init__(self, sqlite_errorname=None, sqlstate=None):
        self.sqlite_errorname, self.sqlstate = sqlite_errorname, sqlstate


@each_case(
    ("cause", "text", "refusal"),
    [
        (CauseError("SQLITE_BUSY_SNAPSHOT"), "database is locked", (503, "busy")),
        (CauseError(sqlstate="40P01"), "deadlock detected", (503, "busy")),
        (
            CauseError("SQLITE_READONLY"),
            "attempt to write a readonly database",
            (503, "disk_error"),
        ),
        (CauseError("SQLITE_FULL"), "database or disk is full", (413, "disk_full")),
        (CauseError(sqlstate="53300"), "too many connections", (503, "busy")),
        (CauseError(sqlstate="53100"), "could not extend file", (413, "disk_full")),
        (None, "database or disk is full", (413, "disk_full")),
        (CauseError("SQLITE_ERROR"), "no such table: locked", (500, "internal_error")),
        (CauseError("SQLITE_IOERR_WRITE"), "disk I/O error", (503, "disk_error")),
        (None, 'near "tide": syntax error', (500, "internal_error")),
    ],
)
def test_database_errors_are_distinguished(api, monkeypatch, caplog, *, cause, text, refusal):
    def troubled(*_args):
        raise OperationalError(text) from cause

    # A test can't cause most of these in a real database, and half are another vendor's.
    monkeypatch.setattr(library, "folder", troubled)
    with caplog.at_level(logging.ERROR, "ferry.service"):
        assert word(api.get("/rest/folder")) == refusal
    assert text in caplog.text
    caplog.clear()


def test_a_busy_database_says_when_to_come_back(api, monkeypatch, caplog):
    def locked(*_args):
        raise OperationalError("database is locked")

    # A real lock would have to outlast SQLite's timeout.
    monkeypatch.setattr(library, "folder", locked)
    answer = api.get("/rest/folder")
    assert word(answer) == (503, "busy")
    assert answer.headers["retry-after"] == "1"
    caplog.clear()


def test_a_read_only_disk_answers_with_retry_after(api, monkeypatch, caplog):
    def refusing(*_args):
        raise OSError(errno.EROFS, "Read-only file system")

    # Only root can make a disk read-only.
    monkeypatch.setattr(library, "folder", refusing)
    assert word(api.get("/rest/folder")) == (503, "disk_error")
    assert "Read-only file system" in caplog.text
    caplog.clear()


def test_a_response_without_content_has_no_type(api, account):
    etag = api.get("/rest/folder").headers["etag"]
    unchanged = api.get("/rest/folder", headers={"if-none-match": etag})
    moved = api.get(f"/rest/file/{a_file(account).pk}")
    assert (unchanged.status_code, moved.status_code) == (304, 302)
    assert "content-type" not in {**unchanged.headers, **moved.headers}
    assert "content-length" not in unchanged.headers
    assert moved.headers["content-length"] == "0"


def test_an_unchanged_listing_tells_no_length_to_head_either(api):
    etag = api.get("/rest/folder").headers["etag"]
    answer = api.head("/rest/folder", headers={"if-none-match": etag})
    assert (answer.status_code, answer.headers.get("content-length")) == (304, None)


def test_no_response_is_cached_on_the_way(api, account):
    for path in ("folder", "user", "transfer", f"file/{a_file(account).pk}", "nothing"):
        answer = api.get(f"/rest/{path}")
        assert answer.headers["cache-control"].startswith("private, no-")
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_whole_of_django_reaches_it_too(account):
    """A request through all of Django needs no cookies and no CSRF token."""
    client = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    basic = {"authorization": "Basic " + encoded(account.email, PASSWORD)}
    answer = client.post("/rest/folder", {"path": "Films"}, headers=basic)
    assert answer.status_code == 200
    assert not answer.cookies


def encoded(email: str, password: str) -> str:
    return base64.b64encode(f"{email}:{password}".encode()).decode()


def test_the_last_pattern_catches_the_rest():
    assert isinstance(urls.urlpatterns[-1].callback, Nowhere)
    assert get_resolver().resolve("/rest/x").func is urls.urlpatterns[-1].callback
