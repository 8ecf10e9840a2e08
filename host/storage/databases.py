"""Open the database, but never make an empty one while Ferry runs."""

import sqlite3
from pathlib import Path
from typing import Any, ClassVar

from django.db import connections

# Notice within half a minute that a server's machine or network is gone; libpq's names.
LOST_SERVER = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}


class SQLite(sqlite3.Connection):
    """An SQLite connection that can refuse to make a missing database.

    By itself, SQLite makes an empty one if the file is missing, such as on an unplugged disk. Ferry
    would then show an empty library and write into the wrong file.
    """

    must_exist: ClassVar[bool] = False

    def __init__(self, database: Any, *arguments: Any, **options: Any) -> None:
        if self.must_exist and not Path(database).exists():
            raise sqlite3.OperationalError("unable to open database file")
        super().__init__(database, *arguments, **options)


def insist() -> None:
    """From now on, let this process open only an existing database."""
    SQLite.must_exist = True


def close_all() -> None:
    """Close the connections of this thread and of its process's pool: none survives a fork."""
    connections.close_all()
    if close_pool := getattr(connections["default"], "close_pool", None):
        close_pool()
