"""A failing disk or database causes a few log lines, not a storm of tracebacks."""

import errno
import logging
import os
import sqlite3
import subprocess
import sys
from io import StringIO

import pytest
from django.db.utils import DatabaseError, OperationalError

from common.storage.outages import Outage
from host.logs import LineFormatter
from host.storage import outage_log
from host.storage.databases import SQLite
from service.errors import DiskFull
from tests.running import BASE
from tests.tools import needs, program


@pytest.fixture(autouse=True)
def _data_dir(tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path
    # What this process remembers in case the disk can't store it.
    monkeypatch.setattr(outage_log, "_own_times", {})


@pytest.fixture
def log():
    """A log that is formatted and filtered like Ferry's own, in memory."""
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(LineFormatter())
    handler.addFilter(outage_log.Outages())
    logger = logging.getLogger("ferry.outages")
    logger.addHandler(handler)
    yield written
    logger.removeHandler(handler)


def fail(error):
    try:
        raise error
    except type(error):
        outage_log.log.exception("round failed")


def full() -> Exception:
    error = DiskFull()
    error.__cause__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return error


def away() -> Exception:
    return OperationalError("unable to open database file")


@pytest.mark.parametrize("is_prepared", [True, False], ids=["together", "each alone"])
def test_a_full_disk_is_a_line_a_minute(log, monkeypatch, is_prepared):
    if is_prepared:
        outage_log.begin()
    now = 1_800_000_000.0
    for seconds in range(0, 179, 5):
        # A test can't wait three minutes.
        monkeypatch.setattr(outage_log.time, "time", lambda at=now + seconds: at)
        fail(full())
        fail(OperationalError("database or disk is full"))
    lines = log.getvalue().splitlines()
    assert len(lines) == 3
    assert all("The disk is full. Free some space on it" in line for line in lines)
    assert "Traceback" not in log.getvalue()


@pytest.mark.parametrize("is_prepared", [True, False], ids=["together", "each alone"])
def test_an_outage_of_the_database_logs_one_line_at_each_end(log, monkeypatch, is_prepared):
    if is_prepared:
        outage_log.begin()
    for now in (1_800_000_000.0, 1_800_000_060.0):
        # A test can't wait a minute between two outages.
        monkeypatch.setattr(outage_log.time, "time", lambda at=now: at)
        for _again in range(10):
            fail(away())
        outage_log.come_back()
        outage_log.come_back()
    assert log_lines(log) == ["away", "back"] * 2
    assert "Traceback" not in log.getvalue()


@pytest.mark.parametrize("is_prepared", [True, False], ids=["together", "each alone"])
def test_a_late_failure_after_the_outage_is_not_logged(log, is_prepared):
    """It began while the server was starting, and another thread or process was faster."""
    if is_prepared:
        outage_log.begin()
    fail(away())
    outage_log.come_back()
    fail(away())
    outage_log.come_back()
    assert log_lines(log) == ["away", "back"]


def test_an_outage_that_lasts_longer_than_a_moment_is_logged(log, monkeypatch):
    outage_log.begin()
    now = 1_800_000_000.0
    for seconds in range(outage_log.LATE_SECONDS + 2):
        # A test can't wait seconds.
        monkeypatch.setattr(outage_log.time, "time", lambda at=now + seconds: at)
        fail(away())
        if seconds == 0:
            outage_log.come_back()
    assert log_lines(log) == ["away", "back", "away"]


def test_another_process_does_not_say_it_again(log, monkeypatch):
    outage_log.begin()
    fail(away())
    # Another process hasn't logged anything yet.
    monkeypatch.setattr(outage_log, "_own_times", {})
    fail(away())
    outage_log.come_back()
    assert len(log.getvalue().splitlines()) == 2


def log_lines(log) -> list[str]:
    return ["away" if "is away" in line else "back" for line in log.getvalue().splitlines()]


def test_errors_other_than_outages_keep_their_traceback(log):
    for error in (ValueError("tide"), OperationalError("no such column: tide")):
        fail(error)
    assert log.getvalue().count("Traceback") == 2


def test_every_kind_of_outage_is_recognized_by_its_error_message():
    server = OperationalError("connection failed: connection to server at 127.0.0.1 failed")
    errors_by_kind = {
        Outage.DISK_FULL: OSError(errno.EDQUOT, ""),
        Outage.READ_ONLY: OperationalError("attempt to write a readonly database"),
        Outage.DISK_ERROR: OSError(errno.EIO, ""),
        Outage.BUSY: OperationalError("database is locked"),
        Outage.CROWDED: OperationalError(
            "connection failed: FATAL:  sorry, too many clients already"
        ),
        Outage.DAMAGED: DatabaseError("file is not a database"),
        Outage.AWAY: server,
    }
    assert {kind: outage_log.outage_in(error) for kind, error in errors_by_kind.items()} == {
        kind: kind for kind in outage_log.ADVICE
    }
    assert all(outage_log.advice(error) for error in errors_by_kind.values())
    assert outage_log.advice(ValueError("tide")) is None


def test_a_running_ferry_does_not_recreate_a_lost_database(tmp_path, monkeypatch):
    place = tmp_path / "away.sqlite3"
    # Programs that own their process set this permanently.
    monkeypatch.setattr(SQLite, "must_exist", True)
    with pytest.raises(sqlite3.OperationalError):
        sqlite3.connect(place, factory=SQLite)
    assert not place.exists()


# A first start that fails


def start(data_dir, prefix=()):
    command = [*prefix, sys.executable, "manage.py", "prepare"]
    variables = {**os.environ, "DATA_DIR": str(data_dir)}
    variables.pop("DATABASE_URL", None)
    return subprocess.run(
        command, cwd=BASE, env=variables, capture_output=True, text=True, check=False
    )


def refused(ended) -> str:
    (line,) = (ended.stdout + ended.stderr).splitlines()
    assert ended.returncode == 1
    return line


@pytest.mark.promise("a damaged database is one line")
@pytest.mark.slow
def test_a_start_over_a_damaged_database_says_so_in_a_line(tmp_path):
    (tmp_path / "ferry.sqlite3").write_bytes(b"x" * 50_000)
    line = refused(start(tmp_path))
    assert line.startswith("The database is damaged. Restore a backup in its place")
    assert str(tmp_path) in line


@pytest.mark.slow
@pytest.mark.parametrize("size", ["4k", "100k", "1m"])
def test_a_first_start_on_a_full_disk_says_so_in_a_line(tmp_path, size):
    """The sizes fill the disk before there is a key, before the tables, and amid static files."""
    script = f'{program("mount")} -t tmpfs -o size={size} ferry "$0" && exec "$@"'
    prefix = (program("unshare"), "--mount", "sh", "-c", script, str(tmp_path))
    needs([*prefix, "true"], "the right to mount a disk")
    line = refused(start(tmp_path, prefix))
    assert line.startswith("The disk is full. Free some space on it, then start Ferry again.")
