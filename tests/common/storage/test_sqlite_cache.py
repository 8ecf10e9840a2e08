"""A cache in an SQLite file that all processes share, and that may be deleted at any time."""

import sqlite3
from contextlib import contextmanager, suppress

import pytest

from common.storage import sqlite_cache
from common.storage.sqlite_cache import SQLiteCache, write_ahead
from tests.cases import each_case

SCHEMA = "CREATE TABLE IF NOT EXISTS thing (name TEXT);"


def keep(cache, name):
    with cache.transact() as connection:
        connection.execute("INSERT INTO thing VALUES (?)", (name,))


def names(cache):
    with cache.open() as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM thing")]


def test_entries_saved_by_one_process_are_read_by_another(tmp_path):
    keep(SQLiteCache(tmp_path / "file", SCHEMA, ["size"]), "kept")
    assert names(SQLiteCache(tmp_path / "file", SCHEMA, ["size"])) == ["kept"]


@each_case(
    ("schema", "facts"),
    [(SCHEMA, ["size", "age"]), (SCHEMA.replace("name TEXT", "name TEXT, age REAL"), ["size"])],
)
def test_entries_in_the_format_of_another_release_are_dropped(tmp_path, schema, facts):
    keep(SQLiteCache(tmp_path / "file", SCHEMA, ["size"]), "kept")
    assert names(SQLiteCache(tmp_path / "file", schema, facts)) == []


def test_a_failed_change_leaves_nothing(tmp_path):
    cache = SQLiteCache(tmp_path / "file", SCHEMA, [])
    keep(cache, "kept")
    with pytest.raises(sqlite3.ProgrammingError), cache.transact() as connection:
        connection.executemany("INSERT INTO thing VALUES (?)", [("new",), ("too", "many")])
    assert names(cache) == ["kept"]


def test_sequential_uses_share_a_connection(tmp_path):
    cache = SQLiteCache(tmp_path / "file", SCHEMA, [])
    with cache.open() as first, cache.open() as beside:
        assert first is not beside
    with cache.open() as again:
        assert again in (first, beside)


def test_an_interrupted_use_is_forgotten(tmp_path):
    cache, other = (SQLiteCache(tmp_path / "file", SCHEMA, []) for _process in range(2))
    keep(cache, "a")
    keep(cache, "b")
    with suppress(KeyError), cache.open() as connection:
        half_read = connection.execute("SELECT name FROM thing")
        raise KeyError(next(half_read))
    keep(other, "c")
    assert names(cache) == ["a", "b", "c"]


def test_each_process_falls_back_to_memory_while_the_disk_is_full(tmp_path):
    path = tmp_path / "file"
    one, other = (SQLiteCache(path, SCHEMA, []) for _ in range(2))
    with full_disk():
        keep(one, "a")
        assert (names(one), names(other)) == (["a"], [])
        assert not path.exists()
    keep(one, "b")
    assert names(one) == names(other) == ["b"]
    with full_disk():
        assert names(one) == []


@contextmanager
def full_disk():
    with pytest.MonkeyPatch.context() as patch:
        # Without root, a test can't fill a disk, so here any disk counts as full.
        patch.setattr(sqlite_cache, "LEAST_FREE_BYTES", 2**62)
        yield


class Crowded:
    """A connection to a new file that other processes open at the same moment."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def execute(self, _statement: str) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise sqlite3.OperationalError("database is locked")


def test_a_file_that_several_processes_open_at_once_is_waited_for():
    connection = Crowded(refusals=3)
    write_ahead(connection)
    assert connection.refusals == -1
