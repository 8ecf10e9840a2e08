"""How a running Ferry opens its database."""

import sqlite3
from pathlib import Path
from typing import Any, ClassVar


class SQLite(sqlite3.Connection):
    """By itself, SQLite makes an empty database where the file is away, such as on a disk that was
    unplugged. Ferry would then show an empty library, and write into the wrong file."""

    must_exist: ClassVar[bool] = False

    def __init__(self, database: Any, *arguments: Any, **options: Any) -> None:
        if self.must_exist and not Path(database).exists():
            raise sqlite3.OperationalError("unable to open database file")
        super().__init__(database, *arguments, **options)


def insist() -> None:
    """From now on, this process opens the database that was prepared, and makes none."""
    SQLite.must_exist = True
