import secrets
from pathlib import Path

from config.storage import durable


def read_or_make(path: Path) -> str:
    """Return the key kept at `path`, made on first use, readable by its owner only.

    Several processes may start at once: the key appears whole or not at all, and the first one
    to link it into place decides for all.
    """
    try:
        return path.read_text()
    except FileNotFoundError:
        durable.create(path, secrets.token_urlsafe(50))
        return path.read_text()
