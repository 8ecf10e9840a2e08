"""A fresh database takes one step in place of many, and is the same in the end."""

from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from django.db import connection, connections
from django.db.backends.utils import CursorWrapper
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from host.storage.release import OWN_APPS
from tests import databases


@contextmanager
def empty_database(folder):
    """Yield a connection to a database that has no tables, under an alias for itself."""
    alias = folder.name
    connections.databases[alias] = connection.settings_dict | {"NAME": name_of(folder)}
    try:
        yield connections[alias]
    finally:
        connections[alias].close()
        del connections[alias], connections.databases[alias]


def name_of(folder):
    if databases.is_sqlite():
        return str(folder)
    return urlsplit(databases.settings_of(folder)["DATABASE_URL"]).path.lstrip("/")


def migrate(base, *, skip_squashed):
    executor = MigrationExecutor(base)
    if skip_squashed:
        loader = MigrationLoader(base, replace_migrations=False)
        squashed = {key for key, each in loader.disk_migrations.items() if each.replaces}
        executor.loader = loader
        ends = [
            key
            for key in loader.disk_migrations
            if key[0] in OWN_APPS
            and key not in squashed
            and not loader.graph.node_map[key].children
        ]
        executor.migrate(ends)
        executor = MigrationExecutor(base)
    executor.migrate(executor.loader.graph.leaf_nodes())
    executor.check_replacements()


def schema_of(base):
    """Return columns and constraints of each table, and what Django doesn't know of SQLite's."""
    tables = {}
    with base.cursor() as cursor:
        for table in base.introspection.table_names(cursor):
            tables[table] = columns_of(base, cursor, table), constraints_of(base, cursor, table)
        return tables, texts_of(base, cursor)


def columns_of(base, cursor, table):
    return sorted(map(repr, base.introspection.get_table_description(cursor, table)))


def constraints_of(base, cursor, table):
    """Return the constraints; SQLite numbers those without a name in the order of the columns."""
    found = base.introspection.get_constraints(cursor, table)
    numbered = ("__unnamed", "sqlite_autoindex")
    names = {name: "" if name.startswith(numbered) else name for name in found}
    return sorted((names[name], repr(facts)) for name, facts in found.items())


def texts_of(base, cursor: CursorWrapper):
    """Return the definitions of indexes, which have conditions, and of triggers."""
    if base.vendor == "sqlite":
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql NOT NULL AND "
            "(type IN ('index', 'trigger') OR sql LIKE 'CREATE VIRTUAL%%')"
        )
    else:
        cursor.execute("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
    return sorted(cursor.fetchall())


@pytest.fixture
def unblocked(django_db_setup, django_db_blocker):
    """Allow connections to databases besides the tests' own."""
    with django_db_blocker.unblock():
        yield


@pytest.mark.slow
def test_a_fresh_database_equals_one_that_took_every_step(unblocked, tmp_path):
    with empty_database(tmp_path / "fresh") as fresh, empty_database(tmp_path / "old") as old:
        migrate(fresh, skip_squashed=False)
        migrate(old, skip_squashed=True)
        assert schema_of(fresh) == schema_of(old)
        assert MigrationLoader(fresh).applied_migrations.keys() == (
            MigrationLoader(old).applied_migrations.keys()
        )
