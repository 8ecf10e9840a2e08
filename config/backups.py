"""Copies of the database that Ferry keeps in its own data folder."""

from pathlib import Path

from django.conf import settings


def folder() -> Path:
    return Path(settings.DATA_DIR) / "backups"


def copies() -> list[Path]:
    """Return all copies, the newest first."""
    return sorted(folder().glob("*.sqlite3"), reverse=True)
