import secrets
from pathlib import Path

from common.storage import durable


def read_or_make(path: Path) -> str:
    """Return the key stored at `path`, made on first use, readable only by its owner.

    Several processes may start at once: the key appears atomically, and the first process to link
    its file to `path` decides for all.
    """
    try:
        return path.read_text()
    except FileNotFoundError:
        durable.create(path, secrets.token_urlsafe(50).encode())
        return path.read_text()
