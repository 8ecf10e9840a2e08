"""Row 18: passwords, keys, and one-time links stay out of pages, logs, and process lists.

For what the service worker caches, see tests/browser/test_worker.py.
"""

import pickle
import zlib
from base64 import b64encode
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from django.conf import settings
from django.db import connection as database
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.people import PASSWORD
from tests.webui import service
from tests.webui.contents.test_relayed_files import leave
from tests.webui.http.test_roles import TABLE
from tests.webui.service import EMAIL
from webui.connection import connection
from webui.files import screen as files_screen
from webui.library.entries import FILE, Entry
from webui.models import Role
from webui.shares import links as share_links
from webui.signin import one_time_links
from webui.tokens import tokens

pytestmark = pytest.mark.django_db


def test_a_trace_in_the_log_names_no_password(alice, monkeypatch, capsys, caplog):
    def broken(*_args, **_fields):
        raise RuntimeError("tide")

    # No known request makes Ferry fail while it holds a password.
    monkeypatch.setattr("webui.signin.views.authenticate", broken)
    browser = Client(headers={"host": "localhost"}, raise_request_exception=False)
    answer = browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 500
    assert "tide" in caplog.text
    assert PASSWORD not in caplog.text + capsys.readouterr().out
    assert PASSWORD.encode() not in answer.content


def test_an_error_page_tells_a_reference_and_nothing_else(alice, monkeypatch):
    def broken(*_args):
        raise RuntimeError(settings.SECRET_KEY)

    # No known request makes a page fail.
    monkeypatch.setattr(files_screen, "render_page", broken)
    alice.client.raise_request_exception = False
    answer = alice.client.get("/")
    assert answer.status_code == 500
    for secret in (settings.SECRET_KEY, "Traceback", str(settings.BASE_DIR)):
        assert secret.encode() not in answer.content


def test_a_used_one_time_link_is_masked_in_the_log(ferry):
    token = "Z" * 43
    answer = httpx.post(
        f"{ferry.url}/welcome/{token}/", data={"username": "x"}, timeout=60, trust_env=False
    )
    assert answer.status_code == 403
    assert ferry.output.saw("path=/welcome/…/", 60), ferry.log
    assert token not in ferry.log


def test_a_password_typed_where_the_name_belongs_is_not_written_down(alice, caplog):
    browser = Client(headers={"host": "localhost"})
    browser.post("/signin/", {"username": PASSWORD, "password": "alice"})
    browser.post("/signin/", {"username": "alice", "password": "wrong"})
    written = caplog.text
    assert "failed name='unknown'" in written
    assert "failed name='alice'" in written
    assert PASSWORD not in written


@pytest.mark.promise("the process list has no secrets")
def test_the_process_list_shows_no_secret(ferry):
    key = (ferry.data_dir / "secret_key").read_text()
    mine = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _readable(path)]
    assert any(b"manage.py\0run" in line for line in mine)
    assert not any(key.encode() in line for line in mine)


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False


@pytest.mark.promise("the log has no secrets")
def test_links_that_open_something_are_masked_in_the_log(ferry):
    token = "Y" * 43
    paths = [f"/s/{token}/7/film.mkv", f"/stream/{token}", f"/pair/{token}/", f"/join/{token}/"]
    paths += [f"/content/file/1/1/film.mkv?e=1&s={token}", f"/rest/file/1?token={token}"]
    with httpx.Client(base_url=ferry.url, timeout=60, trust_env=False) as stranger:
        for path in paths:
            assert stranger.get(path).status_code in (302, 401, 403, 404)
        assert stranger.post(f"/welcome/{token}/").status_code == 403
    assert ferry.output.saw("path=/welcome/…/", 60), ferry.log
    assert token not in ferry.log


@pytest.fixture
def secrets(alice, gwen, storage) -> list[str]:
    """Return one secret of each kind that opens something."""
    now, file = timezone.now(), storage.file("film.mkv")
    connection.store("https://service.example", "me@example.org", "herring in oil")
    alice.client.post("/account/password/", {"old_password": "no guess of mine"})
    entry = Entry(FILE, str(file.id), "film.mkv", 1, 0, "a" * 40)
    return [
        *(PASSWORD, "herring in oil", "no guess of mine"),
        tokens.create(alice.user, "script", now),
        one_time_links.issue("invite", now, timedelta(hours=1), Role.GUEST),
        share_links.make(gwen.user, storage.service.key, entry, now),
        settings.SECRET_KEY,
    ]


def test_a_copy_of_the_database_opens_nothing_but_what_is_signed_in(secrets):
    """It contains sessions in the form of the cookies, which end at sign-out.

    The key that decrypts the service's password is in a file outside the database.
    """
    with database.cursor() as cursor:
        tables = database.introspection.table_names(cursor)
        # The index of search has no rows to read, only what they are found by.
        tables = [table for table in tables if not table.endswith("_search")]
        rows = [cursor.execute(f'SELECT * FROM "{name}"').fetchall() for name in tables]
    written = repr(rows)
    assert "alice" in written
    assert "https://service.example" in written
    for secret in secrets:
        assert secret not in written


@pytest.mark.promise("no page and no cache has credentials")
@pytest.mark.slow
def test_the_credentials_of_a_service_are_in_no_page_and_no_cache(alice, foreign):
    """Nor in a header, a URL, or a script: only calls to the service need them."""
    foreign.file("film.mkv")
    token = b64encode(f"{EMAIL}:{service.PASSWORD}".encode())
    spellings = (service.PASSWORD.encode(), quote(service.PASSWORD).encode(), token)
    seen = 0
    for name, (_who, _method, arguments) in TABLE.items():
        answer = alice.client.get(reverse(name, kwargs=arguments))
        content = b"".join(answer) if answer.streaming else answer.content
        leave(answer)
        seen += answer.status_code == 200
        for secret in spellings:
            assert secret not in content + repr(answer.headers).encode(), name
    assert seen > 20
    kept = [path for path in (settings.DATA_DIR / "cache").rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        with path.open("rb") as stream:
            pickle.load(stream)  # the time when it expires
            content = zlib.decompress(stream.read())
        assert not any(secret in content for secret in spellings)
