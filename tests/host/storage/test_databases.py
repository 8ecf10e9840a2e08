"""What holds for every connection to SQLite."""

import sqlite3
from contextlib import ExitStack, closing
from ctypes import CDLL, c_int64
from pathlib import Path

import pytest
from django.db import connection

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]

ROWS = "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n WHERE x < 10000)"
MIB = 2**20


def test_many_connections_keep_few_pages_in_memory(tmp_path):
    """Hundreds of threads read the same database: each would keep 2 MB of it."""
    connection.ensure_connection()
    place = tmp_path / "other.sqlite3"
    with ExitStack() as stack:
        for number in range(60):
            other = stack.enter_context(closing(sqlite3.connect(place)))
            if number == 0:
                other.execute(f"CREATE TABLE t AS {ROWS} SELECT x, hex(zeroblob(100)) AS y FROM n")
            other.execute("SELECT count(*) FROM t WHERE y LIKE ?", ["%1%"]).fetchone()
        assert sqlite_bytes() < 48 * MIB


def sqlite_bytes() -> int:
    maps = Path("/proc/self/maps").read_text().split()
    library = CDLL(next(each for each in maps if "/libsqlite3" in each))
    library.sqlite3_memory_used.restype = c_int64
    return int(library.sqlite3_memory_used())
