"""Write files and folders atomically, so that they survive a power cut."""

import os
import secrets
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from service.store.hardlinks import place_first
from service.store.sync import sync, sync_file_system


def make_folder(path: Path) -> None:
    """Make a folder and its parents, readable only by the user Ferry runs as."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync(path.parent)


def create(path: Path, text: str) -> None:
    """Create a file. If several processes create it at once, the first one's text counts."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    place_first(draft, path)
    sync(path.parent)


def replace_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Replace a folder. A power cut leaves the old folder, the new one, or none."""
    new, old = (path.with_name(f"{path.name}.{word}") for word in ("new", "old"))
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    new.mkdir(mode=0o700)
    fill(new)
    sync_file_system(new)
    with suppress(FileNotFoundError):
        path.rename(old)
    new.rename(path)
    sync(path.parent)
    shutil.rmtree(old, ignore_errors=True)
