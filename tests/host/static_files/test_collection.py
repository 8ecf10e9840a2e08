"""Static files after a first start, an upgrade, or a power cut that damaged them."""

import json
import shutil
from pathlib import Path

import pytest
from django.core.files.storage import storages

from common.storage import durable
from host.static_files import collection

SCRIPT = "js/app.js"


@pytest.fixture
def sources(tmp_path, settings) -> Path:
    """A few static files for one test, with a temporary folder to collect them into."""
    folder = tmp_path / "sources"
    (folder / "js").mkdir(parents=True)
    (folder / SCRIPT).write_text("export const one = 1;\n" * 50)
    (folder / "app.css").write_text("a { color: red }\n")
    settings.STATICFILES_DIRS = [folder]
    settings.STATIC_ROOT = tmp_path / "static"
    return folder


def listed(settings) -> dict[str, str]:
    return json.loads((Path(settings.STATIC_ROOT) / "staticfiles.json").read_text())["paths"]


def contents(settings) -> dict[str, bytes]:
    root = Path(settings.STATIC_ROOT)
    return {str(path.relative_to(root)): path.read_bytes() for path in files_in(root)}


def files_in(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def made_at(settings) -> int:
    return Path(settings.STATIC_ROOT).stat().st_ino


def test_static_files_are_collected_again_only_when_one_changed(sources, settings):
    collection.collect_static()
    first = made_at(settings)
    collection.collect_static()
    assert made_at(settings) == first
    (sources / SCRIPT).write_text("export const two = 2;\n")
    collection.collect_static()
    hashed = listed(settings)[SCRIPT]
    assert contents(settings)[hashed] == b"export const two = 2;\n"


def test_a_process_that_loaded_too_early_finds_the_files_later(sources, settings):
    settings.STORAGES = dict(settings.STORAGES)  # Makes Django create the storage again.
    assert not storages["staticfiles"].hashed_files
    collection.collect_static()
    assert storages["staticfiles"].hashed_files[SCRIPT] == listed(settings)[SCRIPT]


def test_static_files_for_development_dont_replace_collected_files(sources, settings):
    real = settings.STORAGES
    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    settings.STORAGES = {"staticfiles": {"BACKEND": plain}}
    collection.collect_static()
    assert not (Path(settings.STATIC_ROOT) / "staticfiles.json").exists()
    settings.STORAGES = real
    collection.collect_static()
    assert listed(settings)[SCRIPT] != SCRIPT


def empty_manifest(root: Path) -> None:
    (root / "staticfiles.json").write_bytes(b"")


def zero_manifest(root: Path) -> None:
    (root / "staticfiles.json").write_bytes(bytes(300))


def no_manifest(root: Path) -> None:
    (root / "staticfiles.json").unlink()


def manifest_of_another_kind(root: Path) -> None:
    (root / "staticfiles.json").write_text("[]")


def empty_file(root: Path) -> None:
    next(root.glob("js/*.js")).write_bytes(b"")


def missing_file(root: Path) -> None:
    next(root.glob("js/*.js.gz")).unlink()


def empty_record(root: Path) -> None:
    (root / "collected.json").write_bytes(b"")


def odd_record(root: Path) -> None:
    (root / "collected.json").write_text("[1]")


def no_folder(root: Path) -> None:
    shutil.rmtree(root)


DAMAGES = (
    empty_manifest,
    zero_manifest,
    no_manifest,
    manifest_of_another_kind,
    empty_file,
    missing_file,
    empty_record,
    odd_record,
    no_folder,
)


def test_files_damaged_by_a_power_cut_are_collected_again(sources, settings):
    collection.collect_static()
    whole = contents(settings)
    assert len(whole) > 5
    for damage in DAMAGES:
        damage(Path(settings.STATIC_ROOT))
        collection.collect_static()
        assert contents(settings) == whole, damage.__name__


def test_a_page_from_before_an_upgrade_still_finds_its_modules_until_the_next_one(
    sources, settings
):
    names = []
    for number in range(3):
        (sources / SCRIPT).write_text(f"export const number = {number};\n" * 50)
        collection.collect_static()
        names.append(listed(settings)[SCRIPT])
    assert not {names[0], f"{names[0]}.gz"} & contents(settings).keys()
    assert {names[1], f"{names[1]}.gz", names[2]} <= contents(settings).keys()


def test_everything_is_on_the_disk_before_it_takes_its_place(sources, settings, monkeypatch):
    """This checks the order of syncs and renames; tests/powercuts really cuts the power."""
    steps = []
    sync_all, sync, rename = durable.sync_file_system, durable.sync, Path.rename

    def note_all(folder: Path) -> None:
        steps.append(("all", folder.name, len(files_in(folder))))
        sync_all(folder)

    def note_one(path: Path) -> None:
        steps.append(("folder", path.name))
        sync(path)

    def note_rename(path: Path, target: Path) -> Path:
        renamed = rename(path, target)
        steps.append(("rename", path.name, target.name))
        return renamed

    monkeypatch.setattr(durable, "sync_file_system", note_all)
    monkeypatch.setattr(durable, "sync", note_one)
    monkeypatch.setattr(Path, "rename", note_rename)
    collection.collect_static()
    expected = [
        ("all", "static.new", len(contents(settings))),
        ("rename", "static.new", "static"),
        ("folder", Path(settings.STATIC_ROOT).parent.name),
    ]
    assert steps == expected
