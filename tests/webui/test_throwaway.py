import sqlite3

import pytest

from webui import throwaway
from webui.throwaway import Throwaway, write_ahead


@pytest.fixture
def path(tmp_path):
    return tmp_path / "seen.sqlite3"


@pytest.fixture
def two(path):
    """As two processes have it."""
    return [Throwaway(path, prepare), Throwaway(path, prepare)]


def prepare(base):
    base.executescript("CREATE TABLE IF NOT EXISTS seen (name TEXT)")


def note(store, name):
    with store.open() as base:
        base.execute("INSERT INTO seen VALUES (?)", (name,))


def noted(store):
    with store.open() as base:
        return [row["name"] for row in base.execute("SELECT name FROM seen ORDER BY name")]


def test_what_one_process_notes_all_see(two):
    note(two[0], "a")
    assert noted(two[1]) == ["a"]


def test_while_the_disk_is_full_each_process_has_its_own_in_memory(two, path, monkeypatch):
    monkeypatch.setattr(throwaway, "LEAST_FREE_BYTES", 2**62)
    note(two[0], "a")
    assert (noted(two[0]), noted(two[1])) == (["a"], [])
    assert not path.exists()
    monkeypatch.undo()
    note(two[0], "b")
    assert noted(two[0]) == noted(two[1]) == ["b"]
    monkeypatch.setattr(throwaway, "LEAST_FREE_BYTES", 2**62)
    assert noted(two[0]) == []


class Crowded:
    """A new file that others open at the same moment."""

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
