"""Where the hand-over folder has the copies of what other programs ordered."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path

from django.conf import settings

from common.names import safe_name, split_extension

# Unfinished and removed copies, on the same file system as the finished ones.
HIDDEN = ".partial"
# What programs show if Ferry hands nothing over: they say that they can't find this folder.
NOWHERE = Path("/HANDOVER_DIR-is-not-set")


def top() -> Path:
    return settings.HANDOVER_DIR or NOWHERE


def folder_of(category: str) -> Path:
    """Return the folder of a category. Each slash in it is another level."""
    return top().joinpath(*map(visible_name, filter(None, category.split("/"))))


def visible_name(raw_name: str) -> str:
    """Return a name under which other programs find the entry. They skip those with a dot."""
    name = safe_name(raw_name)
    return safe_name(f"_{name}") if name.startswith(".") else name


def partial_of(row: int) -> Path:
    return top() / HIDDEN / str(row)


def is_there(handed_path: str | Path) -> bool:
    return os.path.lexists(top() / handed_path)


def free_path(category: str, name: str) -> Path:
    folder = folder_of(category)
    return folder / free_name(visible_name(name), lambda each: is_there(folder / each))


def free_name(name: str, is_taken: Callable[[str], bool]) -> str:
    """Return the name, with a number if it is taken: two may become the same safe name."""
    stem, extension = split_extension(name)
    stem = stem.encode()[:200].decode(errors="ignore")
    numbered = (f"{stem} ({number}){extension}" for number in count(2))
    return next(each for each in chain([name], numbered) if not is_taken(each))


def make_folder(path: Path) -> None:
    """Make a folder below the top, and those above it, and open them to other programs."""
    if path == top() or path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    open_up(path)


def open_up(path: Path) -> None:
    """Let other programs use a file or folder: for Ferry's own files, the umask shuts them out."""
    mode = settings.HANDOVER_MODE
    if path.is_dir():
        mode |= (mode & 0o444) >> 2
    if settings.HANDOVER_GROUP is not None:
        os.chown(path, -1, settings.HANDOVER_GROUP)
    path.chmod(mode)


def remove(handed_path: str, row: int) -> None:
    """Take a copy away at once; the worker deletes its bytes later."""
    path = top() / handed_path
    with suppress(OSError):
        if path.parent.resolve() != path.parent:
            return
        (top() / HIDDEN).mkdir(exist_ok=True)
        path.rename(partial_of(row).with_suffix(f".removed-{os.urandom(4).hex()}"))


def delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
