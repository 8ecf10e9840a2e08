"""Writes that a page can do without, if the database is locked or its disk full."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection

# A request may have several such writes, and its reader waits for all of them.
PATIENCE_MS = 1000


@contextmanager
def optional_write(log: logging.Logger, what: str) -> Iterator[None]:
    """Wait for other writers only briefly, and log a failure."""
    try:
        with _brief_patience():
            yield
    except OperationalError as error:
        log.warning("%s: %s", what, error, extra={"trouble": error})


@contextmanager
def _brief_patience() -> Iterator[None]:
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    sqlite = connection.connection
    (usual_ms,) = sqlite.execute("PRAGMA busy_timeout").fetchone()
    sqlite.execute(f"PRAGMA busy_timeout = {min(PATIENCE_MS, usual_ms)}")
    try:
        yield
    finally:
        sqlite.execute(f"PRAGMA busy_timeout = {usual_ms}")
