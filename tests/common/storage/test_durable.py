"""What Ferry writes at its start reaches the disk; tests/powercuts really cuts the power."""

import os
import stat
from pathlib import Path

import pytest

from common.storage import durable
from config.environment import read_or_make_key


def contents_of(place: Path) -> set[str]:
    """Return the names in a folder, or the text of a file."""
    return {path.name for path in place.iterdir()} if place.is_dir() else {place.read_text()}


@pytest.fixture
def synced(monkeypatch) -> list[tuple[Path, set[str]]]:
    """Record each synced path and its contents; without root, no test can see the disk."""
    found: list[tuple[Path, set[str]]] = []
    sync = os.fsync

    def note(descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}").resolve()
        found.append((place, contents_of(place)))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    return found


def test_each_new_folder_is_synced_in_its_parent(tmp_path, synced):
    durable.make_folder(tmp_path / "a" / "b")
    assert synced == [(tmp_path, {"a"}), (tmp_path / "a", {"b"})]
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    durable.make_folder(tmp_path / "a" / "b")
    assert len(synced) == 2


def test_a_folder_below_a_link_to_nothing_is_refused(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    with pytest.raises(FileExistsError):
        durable.make_folder(tmp_path / "link" / "data")


def test_a_folder_that_can_never_be_made_is_refused():
    with pytest.raises(FileNotFoundError):
        durable.make_folder(Path("/proc/ferry/data"))


def test_a_new_key_is_on_the_disk_before_its_name_is(tmp_path, synced):
    """Otherwise, a power cut could leave an empty file under that name."""
    key = read_or_make_key(tmp_path / "secret_key")
    (draft, text), folder = synced
    assert draft.name != "secret_key"
    assert text == {key}
    assert folder == (tmp_path, {"secret_key"})


@pytest.mark.parametrize("name", ["static.new", "static.old"])
def test_a_folder_half_written_in_a_power_cut_blocks_nothing(tmp_path, name):
    (tmp_path / name / "half").mkdir(parents=True)
    durable.replace_folder(tmp_path / "static", lambda new: (new / "whole").touch())
    assert [path.name for path in tmp_path.iterdir()] == ["static"]
    assert [path.name for path in (tmp_path / "static").iterdir()] == ["whole"]
