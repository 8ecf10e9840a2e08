"""Learn at once what other machines change, through PostgreSQL. SQLite has one machine."""

import logging
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

log = logging.getLogger("ferry.worker")

CHANNEL = "ferry_transfers"
RETRY_SECONDS = 1
# How often a listener checks whether it should end, and for how long it lets notifications gather.
LOOK_SECONDS = 0.5
GATHER_SECONDS = 0.1

Note = Callable[[int | None], None]
"""Takes the account that has changed, or None if any may have."""


def notify(account_id: int) -> None:
    """Announce a change of an account to all workers, once the transaction around it commits."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(account_id)])


def listen(note: Note, is_over: threading.Event) -> None:
    """Note each change until `is_over` is set. Connect again if the connection is lost.

    Log only a failure to connect: after a lost connection, the database may already be back.
    """
    while not is_over.is_set():
        try:
            with connection.wrap_database_errors:
                session = own_session()
        except (DatabaseError, InterfaceError):
            log.exception("can't listen to the database; new work waits for the next poll")
            is_over.wait(RETRY_SECONDS)
        else:
            with (
                closing(session),
                suppress(DatabaseError, InterfaceError),
                connection.wrap_database_errors,
            ):
                session.execute(f"LISTEN {CHANNEL}")
                # Others may have changed anything while we weren't listening.
                note(None)
                pass_on(session, note, is_over)
            is_over.wait(GATHER_SECONDS)


def own_session() -> Any:
    """Connect outside the pool, whose connections serve one thread after another."""
    database: Any = connection
    return database.Database.connect(**database.get_connection_params(), autocommit=True)


def pass_on(session: Any, note: Note, is_over: threading.Event) -> None:
    while not is_over.is_set():
        for notification in session.notifies(timeout=LOOK_SECONDS, stop_after=1):
            note(int(notification.payload))
        is_over.wait(GATHER_SECONDS)
