"""Refuse to open a database that a newer Ferry has written to."""

import re
import tomllib
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from django.conf import settings
from django.db import Error, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.db.migrations.recorder import MigrationRecorder

from host.storage import databases
from webui.models import Release

OWN_APPS = ("service", "webui")


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())


def version() -> str:
    return str(project()["project"]["version"])


def date() -> str:
    return str(project()["tool"]["ferry"]["released"])


def refuse_newer(connection: BaseDatabaseWrapper, **_signal: Any) -> None:
    """Raise SystemExit if the database is too new, when a process first opens it."""
    if newer_version := newer(connection):
        raise SystemExit(f"A newer Ferry has changed this database. You need {newer_version}.")
    connection_created.disconnect(refuse_newer)


def newer(base: BaseDatabaseWrapper) -> str | None:
    """Return which Ferry is needed if this one is too old for its database.

    A release may change the data without changing a table, and a version under development has
    migrations before it has a number: either one shows that the database is newer.
    """
    applied = MigrationRecorder(base).applied_migrations()
    if ("webui", Release.MIGRATION) in applied:
        newest = Release.objects.using(base.alias).values_list("version", flat=True).first()
        if newest and number_of(newest) > number_of(version()):
            return f"Ferry {newest} or newer; this is {version()}"
    ours = [(app, name) for app, name in applied if app in OWN_APPS]
    unknown = [f"{app}.{name}" for app, name in ours if name not in known_migrations(app)]
    if unknown:
        return f"the Ferry that brought {max(unknown)}; this one, {version()}, is older"
    return None


@cache
def known_migrations(app: str) -> frozenset[str]:
    """List migrations by their files: loading them would take longer than the rest of the check."""
    folder = import_module(f"{app}.migrations").__path__
    return frozenset(each.name for each in iter_modules(folder))


def number_of(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def note() -> None:
    """Record in the database that this Ferry writes to it."""
    Release.objects.update_or_create(pk=1, defaults={"version": version()})


def check_database() -> None:
    """Check the database in processes whose first query would come too late to refuse.

    Leave no connection open. If the database is away, later queries report it.
    """
    try:
        connections["default"].ensure_connection()
    except Error:
        return
    finally:
        databases.close_all()
