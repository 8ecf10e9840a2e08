import errno
import io
import re
import stat
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from host import preparation
from tests.cases import each_case
from webui.models import Activity, OneTimeLink, User
from webui.signin import one_time_links

pytestmark = pytest.mark.django_db


def announced() -> str:
    out = io.StringIO()
    preparation.announce(out)
    return out.getvalue()


def tokens(text: str) -> list[str]:
    return re.findall(r"/welcome/([\w-]+)/", text)


def test_without_an_owner_a_welcome_link_is_printed():
    (token,) = set(tokens(announced()))
    assert one_time_links.find(OneTimeLink.WELCOME, token, timezone.now())
    later = timezone.now() + timedelta(minutes=61)
    assert not one_time_links.find(OneTimeLink.WELCOME, token, later)


def test_a_restart_prints_a_new_link_and_ends_the_old_one():
    (old,) = set(tokens(announced()))
    (new,) = set(tokens(announced()))
    assert not one_time_links.find(OneTimeLink.WELCOME, old, timezone.now())
    assert one_time_links.find(OneTimeLink.WELCOME, new, timezone.now())


def test_with_an_owner_no_link_is_printed(alice):
    assert tokens(announced()) == []
    assert "http://localhost:8000/" in announced()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_no_qr_code_is_printed_if_no_phone_can_reach_ferry(settings, host):
    assert "On a phone" in announced()
    settings.HOST = host
    assert "On a phone" not in announced()


def test_createsuperuser_without_questions_makes_the_owner(monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_USERNAME", "alice")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "a quiet harbour")
    call_command("createsuperuser", interactive=False, verbosity=0)
    owner = User.objects.get()
    assert owner.role == "owner"
    assert owner.check_password("a quiet harbour")


@each_case("weak", ["", "x", "password1", "alice2026", "x" * 1025])
def test_createsuperuser_without_questions_takes_no_weak_password(weak, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_USERNAME", "alice2026")
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", weak)
    with pytest.raises(CommandError, match="password"):
        call_command("createsuperuser", interactive=False, verbosity=0)
    assert not User.objects.exists()


def test_createsuperuser_that_creates_no_one_records_no_one(bob):
    call_command("createsuperuser", stdin=io.StringIO(), stdout=io.StringIO())
    assert not Activity.objects.exists()


def test_the_token_itself_is_not_stored():
    (token,) = set(tokens(announced()))
    assert token not in str(OneTimeLink.objects.values())


def test_errors_distinguish_a_taken_or_forbidden_port_from_a_wrong_address():
    assert "perhaps Ferry itself" in preparation.address_trouble(errno.EADDRINUSE)
    assert preparation.address_trouble(errno.EACCES).startswith("PORT: Ferry may not")
    assert preparation.address_trouble(errno.EADDRNOTAVAIL).startswith("HOST: ")


def test_a_data_folder_is_closed_to_others(tmp_path, caplog):
    tmp_path.chmod(0o755)
    preparation.make_private(tmp_path)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700
    assert "DATA_DIR is open to others" not in caplog.text


def test_a_data_folder_that_cannot_be_closed_to_others_is_reported(tmp_path, monkeypatch, caplog):
    tmp_path.chmod(0o755)
    # Without root, a test can't mount a file system without permissions.
    monkeypatch.setattr(preparation.Path, "chmod", lambda *_arguments: None)
    preparation.make_private(tmp_path)
    assert "DATA_DIR is open to others" in caplog.text


def test_a_data_folder_that_cannot_be_written_to_is_one_line(tmp_path):
    with pytest.raises(SystemExit, match=r"^DATA_DIR: "), preparation.alone(tmp_path / "no" / "l"):
        pass


def test_unsynced_files_are_discarded_after_a_reboot(tmp_path, monkeypatch):
    boot = tmp_path / "boot"
    # No test can reboot the machine; tests/powercuts really gives Ferry another boot ID.
    monkeypatch.setattr("common.storage.durable.BOOT_ID", boot)
    data = tmp_path / "data"
    for folder in ("cache", "pins", "loans"):
        (data / folder).mkdir(parents=True)
    kept = [data / "ferry.sqlite3", data / "pins/1-0123abcd"]
    names = (
        "listings.sqlite3",
        "listings.sqlite3-wal",
        "transfers.sqlite3",
        "cache/a.djcache",
        "pins/1-key-0123abcd",
        "loans/0123abcd",
        "loans/.0123abcd.7",
    )
    for current, are_gone in (("one", True), ("one", False), ("two", True), ("two", False)):
        for path in (*kept, *(data / name for name in names)):
            path.parent.mkdir(exist_ok=True)
            path.touch()
        boot.write_text(current)
        preparation.drop_unsynced(data)
        left = [name for name in names if (data / name).exists()]
        assert left == ([] if are_gone else [*names]), current
        assert all(path.exists() for path in kept)
