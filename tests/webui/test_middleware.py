import gzip
from io import BytesIO

import pytest
from django.db.utils import OperationalError
from django.http import HttpResponse
from django.test import Client

from tests.cases import each_case
from tests.people import PASSWORD, page, words
from webui.files import screen as files_screen
from webui.signin import devices
from webui.signin.session_store import SessionStore

pytestmark = pytest.mark.django_db

POLICY = {
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
}


def broken(*_args) -> HttpResponse:
    raise RuntimeError("the secret word is herring")


@each_case("path", ["/", "/signin/", "/nowhere/", "/account/"])
def test_documents_carry_the_whole_policy(alice, path):
    answer = alice.client.get(path, follow=True)
    assert set(answer["Content-Security-Policy"].split("; ")) == POLICY
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Cache-Control"] == "private, no-store"
    assert "Permissions-Policy" in answer


def test_responses_other_than_documents_carry_nosniff_only(client):
    answer = client.get("/healthz")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "Content-Security-Policy" not in answer


def test_static_files_are_hashed_and_cached_for_ever(client):
    sheet = page(client.get("/signin/")).select_one("link[rel=stylesheet]")["href"]
    answer = client.get(sheet)
    assert "immutable" in answer["Cache-Control"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    answer.close()


def test_opener_policy_and_hsts_are_for_https_only(client, settings):
    settings.HSTS_SECONDS = 3600
    plain, secure = client.get("/signin/"), client.get("/signin/", secure=True)
    assert "Cross-Origin-Opener-Policy" not in plain
    assert "Strict-Transport-Security" not in plain
    assert secure["Cross-Origin-Opener-Policy"] == "same-origin"
    assert secure["Strict-Transport-Security"] == "max-age=3600"


def test_hsts_is_off_by_default(client):
    assert "Strict-Transport-Security" not in client.get("/signin/", secure=True)


def test_https_cookies_are_secure_and_have_separate_names(alice):
    visitor = Client(headers={"host": "localhost"})
    visitor.post("/signin/", {"username": "alice", "password": PASSWORD}, secure=True)
    assert visitor.cookies["ferry_session_8000_s"]["secure"]
    assert "ferry_session_8000" not in visitor.cookies
    assert visitor.get("/", secure=True).status_code == 200


def test_an_https_session_does_not_work_over_http(alice):
    visitor = Client(headers={"host": "localhost"})
    visitor.post("/signin/", {"username": "alice", "password": PASSWORD}, secure=True)
    assert visitor.get("/").status_code == 302


def test_an_error_page_says_what_happened_without_a_number(bob):
    answer = bob.client.get("/nowhere/")
    assert answer.status_code == 404
    assert "Ferry can't find this" in words(answer, "h1")
    assert "404" not in words(answer, "main")


def test_a_broken_view_gives_a_reference_that_the_log_knows(alice, monkeypatch, caplog):
    alice.client.raise_request_exception = False
    # No view of Ferry is broken.
    monkeypatch.setattr(files_screen, "render_page", broken)
    answer = alice.client.get("/")
    assert answer.status_code == 500
    reference = words(answer, ".reference").split()[-1]
    assert f"reference={reference}" in caplog.text
    assert "herring" in caplog.text
    assert b"herring" not in answer.content


@each_case(
    ("text", "title"),
    [
        ("database is locked", "Ferry is busy"),
        ("database or disk is full", "Ferry can't write to its disk"),
    ],
)
def test_trouble_of_the_database_is_a_page_in_plain_words(alice, monkeypatch, caplog, text, title):
    def troubled(*_args, **_options):
        raise OperationalError(text)

    # Without root, a test can't fill a disk; and Ferry waits 20 s for a lock.
    monkeypatch.setattr(files_screen, "render_page", troubled)
    answer = alice.client.get("/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "30")
    assert words(answer, "h1") == title
    assert "Traceback" not in caplog.text


def test_a_device_that_cannot_be_noted_sees_its_page(alice, monkeypatch, caplog):
    def locked(*_args):
        raise OperationalError("database is locked")

    # Ferry waits 20 s for a lock, and a lasting lock would fail the page too.
    monkeypatch.setattr(devices, "note", locked)
    assert alice.client.get("/account/").status_code == 200
    assert "device not noted" in caplog.text


def test_under_htmx_an_error_is_a_toast(alice):
    answer = alice.client.get("/nowhere/", headers={"hx-request": "true"})
    assert answer.status_code == 404
    assert answer["HX-Retarget"] == "#toasts"
    assert answer["HX-Reswap"] == "beforeend"
    assert answer["HX-Push-Url"] == "false"
    assert not page(answer).select_one("html")


@each_case("accept", ["image/avif,image/webp,*/*;q=0.8", "*/*"])
def test_a_missing_icon_does_not_affect_the_pages_cookie(client, accept):
    page_of_its_own = client.get("/signin/")
    assert any("csrf" in name for name in page_of_its_own.cookies)
    beside = Client(headers={"host": "localhost"})
    for path in ("/favicon.ico", "/apple-touch-icon.png"):
        answer = beside.get(path, headers={"accept": accept})
        assert answer.status_code == 404
        assert not answer.cookies
    assert beside.get("/nowhere/", headers={"accept": "text/html"}).cookies


def test_a_missing_address_reaches_a_page_as_a_toast(alice):
    answer = alice.client.get("/nowhere/", headers={"accept": "*/*", "hx-request": "true"})
    assert answer.status_code == 404
    assert answer["HX-Retarget"] == "#toasts"
    assert words(answer, ".toast")


def test_a_wrong_method_is_a_page_that_names_the_right_ones(alice):
    answer = alice.client.get("/signout/")
    assert answer.status_code == 405
    assert answer["Allow"] == "POST"
    assert words(answer, "h1")


def test_a_body_too_large_is_a_page(alice):
    answer = alice.client.post("/account/look/", {"theme": "x" * 3_000_000})
    assert answer.status_code == 413


@each_case("kind", ["text/plain", "multipart/form-data; boundary=x"])
def test_forms_accept_neither_files_nor_megabytes(alice, kind):
    body = b"x" * 3_000_000
    assert alice.client.generic("POST", "/signin/", body, content_type=kind).status_code == 413


@each_case("path", ["/signin/", "/welcome/x/", "/account/look/"])
@each_case(
    ("kind", "size", "status"),
    [
        ("application/x-www-form-urlencoded", 70_000, 413),
        ("multipart/form-data; boundary=x", 70_000, 413),
        ("multipart/form-data; boundary=x", 100, 400),
    ],
)
def test_a_form_of_a_stranger_is_short_and_has_no_parts(mallory, path, kind, size, status):
    """Ferry decides by the headers, and reads nothing of the body."""
    body = BytesIO(b"x" * size)
    facts = {"wsgi.input": body, "CONTENT_LENGTH": str(size), "CONTENT_TYPE": kind}
    mallory.handler.enforce_csrf_checks = True
    assert mallory.generic("POST", path, **facts).status_code == status
    assert body.tell() == 0


class Stalled(BytesIO):
    def read(self, *_size: int) -> bytes:
        raise TimeoutError


@each_case("path", ["/signin/", "/account/look/", "/transfers/send/"])
def test_a_form_whose_sender_stalls_is_a_bad_request(alice, path, caplog):
    kind = "application/x-www-form-urlencoded"
    facts = {"wsgi.input": Stalled(), "CONTENT_LENGTH": "9", "CONTENT_TYPE": kind}
    assert alice.client.generic("POST", path, **facts).status_code == 400
    assert "ERROR" not in caplog.text


@each_case(
    "path", ["/", "/nowhere/", "/send/", "/files/0/upload/", "/add/share/", "/transfers/send/"]
)
def test_responses_are_not_cacheable_unless_marked(alice, path):
    """The paths answer with pages, text, and JSON for scripts."""
    for headers in ({}, {"X-Requested-With": "ferry"}):
        answer = alice.client.post(path, headers=headers)
        assert answer["Cache-Control"] == "private, no-store"


def test_sessions_that_cannot_be_read_leave_a_page_that_says_so(alice, monkeypatch):
    def away(*_args):
        raise OperationalError("no such table: django_session")

    # Removing the table would end the transaction of this test.
    monkeypatch.setattr(SessionStore, "load", away)
    alice.client.raise_request_exception = False
    answer = alice.client.get("/signin/")
    assert answer.status_code == 500
    assert "Something went wrong in Ferry" in words(answer, "h1")


def test_a_session_that_cannot_be_written_is_trouble_of_the_disk(alice, monkeypatch, settings):
    def full(*_args, **_options):
        raise OperationalError("database or disk is full")

    settings.SESSION_SAVE_EVERY_REQUEST = True
    assert alice.client.get("/account/").status_code == 200
    # Without root, a test can't fill a disk.
    monkeypatch.setattr(SessionStore.get_model_class(), "save", full)
    answer = alice.client.get("/account/")
    assert answer.status_code == 503
    assert words(answer, "h1") == "Ferry can't write to its disk"


def test_a_session_that_cannot_be_written_at_sign_in_is_trouble_of_the_database(alice, monkeypatch):
    """Django replaces the database's error with another one."""
    save = SessionStore.get_model_class().save

    def locked_when_changed(session, *args, **options):
        if options.get("force_update"):
            raise OperationalError("database is locked")
        save(session, *args, **options)

    # Locking the real database would take as long as Ferry waits for a lock.
    monkeypatch.setattr(SessionStore.get_model_class(), "save", locked_when_changed)
    visitor = Client(headers={"host": "localhost"}, raise_request_exception=False)
    answer = visitor.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 503
    assert words(answer, "h1") == "Ferry is busy"


def test_an_unknown_host_name_is_told_where_to_add_it():
    answer = Client(headers={"host": "attacker.example"}).get("/signin/")
    assert answer.status_code == 400
    assert "adds it under Server, “Name and addresses”" in words(answer, "main")
    assert not page(answer).select_one("main a[href^='http']")


def test_pages_are_sent_compressed_and_bytes_as_they_are(alice):
    page_answer = alice.client.get("/account/", headers={"accept-encoding": "gzip"})
    assert page_answer["Content-Encoding"] == "gzip"
    assert b"alice" in gzip.decompress(page_answer.content)
    assert "Content-Encoding" not in alice.client.get("/account/")
    assert "Content-Encoding" not in alice.client.get(
        "/readyz", headers={"accept-encoding": "gzip"}
    )
