"""A SQLite file that all processes share, and that may be deleted at any time."""

import sqlite3
from contextlib import suppress

import pytest

from tests.cases import each_case
from webui import shared_file
from webui.shared_file import SharedFile, write_ahead

SCHEMA = "CREATE TABLE IF NOT EXISTS thing (name TEXT);"


def keep(file, name):
    with file.transact() as base:
        base.execute("INSERT INTO thing VALUES (?)", (name,))


def names(file):
    with file.open() as base:
        return [row["name"] for row in base.execute("SELECT name FROM thing")]


def test_entries_saved_by_one_process_are_read_by_another(tmp_path):
    keep(SharedFile(tmp_path / "file", SCHEMA, ["size"]), "kept")
    assert names(SharedFile(tmp_path / "file", SCHEMA, ["size"])) == ["kept"]


@each_case(
    ("schema", "facts"),
    [(SCHEMA, ["size", "age"]), (SCHEMA.replace("name TEXT", "name TEXT, age REAL"), ["size"])],
)
def test_entries_in_the_format_of_another_release_are_dropped(tmp_path, schema, facts):
    keep(SharedFile(tmp_path / "file", SCHEMA, ["size"]), "kept")
    assert names(SharedFile(tmp_path / "file", schema, facts)) == []


def test_a_failed_change_leaves_nothing(tmp_path):
    file = SharedFile(tmp_path / "file", SCHEMA, [])
    keep(file, "kept")
    with pytest.raises(sqlite3.ProgrammingError), file.transact() as base:
        base.executemany("INSERT INTO thing VALUES (?)", [("new",), ("too", "many")])
    assert names(file) == ["kept"]


def test_sequential_uses_share_a_connection(tmp_path):
    file = SharedFile(tmp_path / "file", SCHEMA, [])
    with file.open() as first, file.open() as beside:
        assert first is not beside
    with file.open() as again:
        assert again in (first, beside)


def test_an_interrupted_use_is_forgotten(tmp_path):
    file, other = (SharedFile(tmp_path / "file", SCHEMA, []) for _process in range(2))
    keep(file, "a")
    keep(file, "b")
    with suppress(KeyError), file.open() as base:
        half_read = base.execute("SELECT name FROM thing")
        raise KeyError(next(half_read))
    keep(other, "c")
    assert names(file) == ["a", "b", "c"]


def test_each_process_falls_back_to_memory_while_the_disk_is_full(tmp_path, monkeypatch):
    path = tmp_path / "file"
    one, other = (SharedFile(path, SCHEMA, []) for _ in range(2))
    # Without root, a test can't fill a disk, so here any disk counts as full.
    monkeypatch.setattr(shared_file, "LEAST_FREE_BYTES", 2**62)
    keep(one, "a")
    assert (names(one), names(other)) == (["a"], [])
    assert not path.exists()
    monkeypatch.undo()
    keep(one, "b")
    assert names(one) == names(other) == ["b"]
    monkeypatch.setattr(shared_file, "LEAST_FREE_BYTES", 2**62)
    assert names(one) == []


class Crowded:
    """A connection to a new file that other processes open at the same moment."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals

    def execute(self, _statement: str) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise sqlite3.OperationalError("database is locked")


def test_a_file_that_several_processes_open_at_once_is_waited_for():
    base = Crowded(refusals=3)
    write_ahead(base)
    assert base.refusals == -1
