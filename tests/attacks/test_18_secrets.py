"""Row 18: passwords, keys and one-time links stay out of pages, logs and process lists."""

from pathlib import Path

import httpx
import pytest
from django.conf import settings
from django.test import Client

from tests.people import PASSWORD
from webui.views import files

pytestmark = pytest.mark.django_db


def test_a_trace_in_the_log_names_no_password(alice, monkeypatch, capsys, caplog):
    def broken(*_args, **_fields):
        raise RuntimeError("tide")

    monkeypatch.setattr("webui.views.signin.authenticate", broken)
    browser = Client(headers={"host": "localhost"}, raise_request_exception=False)
    answer = browser.post("/signin/", {"username": "alice", "password": PASSWORD})
    assert answer.status_code == 500
    assert "tide" in caplog.text
    assert PASSWORD not in caplog.text + capsys.readouterr().out
    assert PASSWORD.encode() not in answer.content


def test_an_error_page_tells_a_reference_and_nothing_else(alice, monkeypatch):
    def broken(*_args):
        raise RuntimeError(settings.SECRET_KEY)

    monkeypatch.setattr(files, "render", broken)
    alice.client.raise_request_exception = False
    answer = alice.client.get("/")
    assert answer.status_code == 500
    for secret in (settings.SECRET_KEY, "Traceback", str(settings.BASE_DIR)):
        assert secret.encode() not in answer.content


def test_a_used_one_time_link_is_masked_in_the_log(ferry):
    token = "Z" * 43
    answer = httpx.post(f"{ferry.url}/welcome/{token}/", data={"username": "x"}, trust_env=False)
    assert answer.status_code == 403
    assert ferry.output.saw("path=/welcome/…/", 10), ferry.log
    assert token not in ferry.log


def test_a_password_typed_where_the_name_belongs_is_not_written_down(alice, caplog):
    browser = Client(headers={"host": "localhost"})
    browser.post("/signin/", {"username": PASSWORD, "password": "alice"})
    browser.post("/signin/", {"username": "alice", "password": "wrong"})
    written = caplog.text
    assert "wrong name='unknown'" in written
    assert "wrong name='alice'" in written
    assert PASSWORD not in written


def test_the_process_list_shows_no_secret(ferry):
    key = (ferry.data_dir / "secret_key").read_text()
    mine = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if _readable(path)]
    assert any(b"gunicorn" in line for line in mine)
    assert not any(key.encode() in line for line in mine)


def _readable(path: Path) -> bool:
    try:
        return bool(path.read_bytes())
    except OSError:
        return False
