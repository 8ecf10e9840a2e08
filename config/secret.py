import os
import secrets
from pathlib import Path


def read_or_make(path: Path) -> str:
    """The key kept at `path`, made on first use, readable by its owner only.

    Several processes may start at once: the key appears whole or not at all, and the first one
    to link it into place decides for all.
    """
    try:
        return path.read_text()
    except FileNotFoundError:
        _make(path)
        return path.read_text()


def _make(path: Path) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # Another process was first; its key counts.
    finally:
        draft.unlink()
