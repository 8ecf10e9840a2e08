"""Collect the static files: hashed, compressed, and checked at each start."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.contrib.staticfiles.management.commands import collectstatic
from django.core.files.storage import Storage, storages
from django.core.management import call_command

from common.storage import durable
from host.static_files.storage import HashedModules

RECORD = "collected.json"
MANIFEST = "staticfiles.json"


def collect_static() -> None:
    """Collect the static files, unless the last collection is intact and up to date.

    Hashing every file takes a second, so do it only when a file or the storage class has changed,
    or when a power cut or anything else has damaged the collection.
    """
    root = Path(settings.STATIC_ROOT)
    fingerprint = f"{settings.STORAGES['staticfiles']['BACKEND']} {fingerprint_of(sources())}"
    is_sound = is_whole(root)
    if is_sound and read_record(root)["fingerprint"] == fingerprint:
        return

    def fill(new: Path) -> None:
        command = collectstatic.Command()
        command.storage = storage_at(new)
        call_command(command, verbosity=0, interactive=False)
        if is_sound:
            bring_hashed(root, new)
        (new / RECORD).write_text(json.dumps({"fingerprint": fingerprint, **count(new)}))

    durable.replace_folder(root, fill)
    # If an older Ferry found this file, it wouldn't collect its own files again.
    root.with_suffix(".fingerprint").unlink(missing_ok=True)
    if isinstance(storage := storages["staticfiles"], HashedModules):
        storage.read_again()


def sources() -> Iterator[Path]:
    for finder in get_finders():
        for path, storage in finder.list(["*.map"]):
            yield Path(storage.path(path))


def fingerprint_of(paths: Iterator[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        facts = path.stat()
        digest.update(f"{path} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def is_whole(folder: Path) -> bool:
    """Return whether the manifest is readable and files and bytes are as many as recorded."""
    try:
        record = read_record(folder)
        return record == record | count(folder)
    except (OSError, ValueError, TypeError, AttributeError):
        return False


def read_record(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / RECORD).read_bytes())
    return record


def count(folder: Path) -> dict[str, int]:
    """Count files, bytes, and names. Raise ValueError and more if the manifest can't be read."""
    apart = (folder / RECORD, folder / MANIFEST)
    files = [path for path in folder.rglob("*") if path.is_file() and path not in apart]
    size = sum(path.stat().st_size for path in files)
    return {"files": len(files), "bytes": size, "listed": len(hashed_names(folder))}


def hashed_names(folder: Path) -> list[str]:
    """Return the hashed names; none in development, where files keep their names."""
    return [*getattr(storage_at(folder), "hashed_files", {}).values()]


def bring_hashed(old: Path, new: Path) -> None:
    """Keep the old hashed files: pages opened before an upgrade load more modules by old names."""
    for name in hashed_names(old):
        for path in old.glob(f"{name}*"):
            target = new / path.relative_to(old)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)


def storage_at(folder: Path) -> Storage:
    options = {"location": str(folder)}
    return storages.create_storage({**settings.STORAGES["staticfiles"], "OPTIONS": options})
