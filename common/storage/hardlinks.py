"""Hard links, and fallbacks on disks without them, such as exFAT and some network shares."""

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

# The disk has no links, allows no more of this file, or the two paths aren't on one disk.
NO_LINK = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV}
)


def try_link(source: Path, target: Path) -> bool:
    """Give a file another name, or return False if the disk can't; then it must be copied."""
    try:
        os.link(source, target)
    except OSError as trouble:
        if trouble.errno not in NO_LINK:
            raise
        return False
    return True


def place_first(draft: Path, path: Path) -> None:
    """Name a draft `path`, unless another process was first: then that process's file stays."""
    with suppress(FileExistsError):
        if not try_link(draft, path):
            _place_in_turn(draft, path)


def _place_in_turn(draft: Path, path: Path) -> None:
    with path.with_name(f"{path.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            draft.rename(path)


def are_supported(folder: Path) -> bool:
    draft, other = folder / f"links.{os.getpid()}.new", folder / f"links.{os.getpid()}.other"
    try:
        draft.touch(mode=0o600)
        return try_link(draft, other)
    finally:
        draft.unlink(missing_ok=True)
        other.unlink(missing_ok=True)
