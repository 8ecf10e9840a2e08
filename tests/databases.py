"""Find the database that DATABASE_URL names, for the programs that tests start."""

import atexit
import os
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection


def shared_url() -> str:
    """Return the URL of the tests' own database, for a program that also reads and writes it."""
    name = connection.settings_dict["NAME"]
    return url_of(name) if connection.vendor != "sqlite" else f"sqlite:///{name}"


def url_of(name: str) -> str:
    """Return the URL of another database on the same server."""
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def is_sqlite() -> bool:
    return not os.environ.get("DATABASE_URL", "").startswith("postgres")


def settings_of(data_dir: Path) -> dict[str, str]:
    """Return the settings that give a whole program its own database until the tests end.

    A program that starts again with the same folder gets the same database. With SQLite, the
    database is in that folder anyway.
    """
    if is_sqlite():
        return {"DATABASE_URL": ""}
    name = f"ferry_tests_{sha256(os.fsencode(data_dir)).hexdigest()[:20]}"
    if name not in _made:
        _say(f"CREATE DATABASE {name}")
        _made.add(name)
        atexit.register(_drop, name)
    return {"DATABASE_URL": url_of(name)}


_made: set[str] = set()


def _drop(name: str) -> None:
    import psycopg  # noqa: PLC0415  See below.

    # If the tests started the server, it has ended by now, and the database with it.
    with suppress(psycopg.OperationalError):
        _say(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _say(command: str) -> None:
    """Run a command outside any transaction: PostgreSQL creates no database inside one."""
    import psycopg  # noqa: PLC0415  Only PostgreSQL needs it.

    with closing(psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)) as server:
        server.execute(command)
