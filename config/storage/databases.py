"""Open the database, but never make an empty one while Ferry runs."""

import sqlite3
from pathlib import Path
from typing import Any, ClassVar


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
