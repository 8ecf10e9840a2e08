"""Which rows a change of an account locks, as PostgreSQL would be asked to.

SQLite has one writer, and no locks of rows. tests/service/test_races.py shows on PostgreSQL that
two changes at once then wait for each other.
"""

import pytest
from django.db import connection

from service.accounts import accounts
from service.transfers import transfers
from tests.service.builders import NOW, a_file, a_folder, alice, magnet

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]
LOCK = " FOR UPDATE"


@pytest.fixture
def locked(monkeypatch):
    """Return the queries that lock rows, in order. SQLite gets them without the lock."""
    queries = []

    def note(execute, sql, *more):
        if sql.endswith(LOCK):
            queries.append(sql)
        return execute(sql.removesuffix(LOCK), *more)

    # Django leaves locks out for databases without them, and no quick test can start PostgreSQL.
    monkeypatch.setattr(connection.features, "has_select_for_update", True)
    with connection.execute_wrapper(note):
        yield queries


@pytest.mark.parametrize(
    "change",
    [
        lambda account: a_folder(account, "Films"),
        lambda account: a_file(account, size_bytes=40),
        lambda account: accounts.set_space(account, 100, NOW),
        lambda account: transfers.add_magnet(account, magnet(), 0, NOW),
        lambda account: accounts.remove(account, NOW),
    ],
    ids=["folder", "file", "space", "transfer", "removal"],
)
def test_each_change_first_locks_the_row_of_its_account(locked, change):
    account = alice()
    locked.clear()
    change(account)
    assert 'FROM "service_account"' in locked[0]
