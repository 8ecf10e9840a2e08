"""Prepare a database that several machines may share, and refuse one that Ferry can't use."""

import logging
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from django.db import connection, connections

from service.accounts import accounts
from service.errors import NotFound

log = logging.getLogger("ferry.preparation")

LOCK = int.from_bytes(b"ferry")
HOW_TO_CREATE = "Create it with TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"
# The range of an index holds a folder with all below it, if digits sort as characters.
TEXT = """
SELECT current_setting('server_encoding'), '01' < '0100' AND '0100' < '02',
    current_setting('server_version_num')::int
"""
# Since PostgreSQL 15.
HAS_CHANGED = """
SELECT datcollversion IS DISTINCT FROM pg_database_collation_actual_version(oid)
FROM pg_database WHERE datname = current_database()
"""


def alone() -> AbstractContextManager[bool]:
    """Let one of several machines prepare the database, while the others wait for it."""
    return _lock("pg_advisory_lock", LOCK)


def unless_elsewhere(name: str) -> AbstractContextManager[bool]:
    """Yield whether this machine may do something that none of the others is doing now."""
    return _lock("pg_try_advisory_lock", zlib.crc32(name.encode()))


@contextmanager
def _lock(function: str, number: int) -> Iterator[bool]:
    """Yield whether we hold the lock. A database that only one machine uses needs none."""
    if connection.vendor != "postgresql":
        yield True
        return
    # Use a separate session, since migrations may end this thread's.
    session = connections.create_connection("default")
    try:
        with session.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s)", [number])
            # Only pg_try_advisory_lock returns a value.
            is_ours = cursor.fetchone()[0] is not False
            try:
                yield is_ours
            finally:
                # A pool keeps the session, and the lock with it.
                if is_ours:
                    cursor.execute("SELECT pg_advisory_unlock(%s)", [number])
    finally:
        session.close()


def check_text() -> None:
    """Exit with one line if the database can't store or sort Ferry's text."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(TEXT)
        encoding, sorts_by_character, version = cursor.fetchone()
        has_changed = False
        if version >= 150_000:
            cursor.execute(HAS_CHANGED)
            (has_changed,) = cursor.fetchone()
    if encoding != "UTF8":
        raise SystemExit(
            f"DATABASE_URL: the database stores {encoding}; it must be UTF8. {HOW_TO_CREATE}."
        )
    if not sorts_by_character:
        raise SystemExit(
            f"DATABASE_URL: the database sorts digits as numbers, not as text. {HOW_TO_CREATE}."
        )
    if has_changed:
        log.warning(
            "The system's rules for sorting have changed since the database was created, so its "
            "indexes may miss rows. Stop Ferry, then run REINDEX DATABASE and "
            "ALTER DATABASE … REFRESH COLLATION VERSION."
        )


def refuse_other_key(email: str, secret_digest: str) -> None:
    """Exit with one line if Ferry has used the database with another SECRET_KEY.

    A second machine with another key would end the sessions and links of the first one. The site's
    own credentials derive from the key, so their digest identifies the key without revealing it.
    """
    if connection.vendor != "postgresql":
        return
    try:
        known_digest = accounts.find(email).secret_digest
    except NotFound:
        return
    if known_digest not in ("", secret_digest):
        raise SystemExit(
            "SECRET_KEY: the database belongs to a Ferry with another key. Set SECRET_KEY to that "
            "Ferry's, which is in secret_key in its DATA_DIR unless it is set there, too. If that "
            "Ferry or its key is gone, run manage.py prepare --new-key once; all sessions, links, "
            "and stored passwords of other services end."
        )
