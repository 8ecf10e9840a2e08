"""Which rows each change locks, as PostgreSQL would be asked to.

SQLite has one writer, and no locks of rows. The tests of races show on PostgreSQL what the locks
are good for.
"""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction

from service.accounts import accounts, wrong_passwords
from service.accounts.wrong_passwords import GuessLimit
from service.library import space
from service.library.upkeep import database_match
from service.media import probing
from service.models import Media
from service.transfers import transfers
from service.worker.leases import LEASE, Lease
from tests.service.builders import NOW, a_file, a_folder, magnet
from tests.service.builders import alice as account_of_alice
from webui.models import Role
from webui.people import people
from webui.signin import throttle
from webui.signin.throttle import ThrottleKey

pytestmark = [pytest.mark.django_db, pytest.mark.sqlite]
LOCK = re.compile(r' FROM "(\w+)" .*( FOR UPDATE(?: SKIP LOCKED)?)$')


@pytest.fixture
def locked(monkeypatch):
    """Return the tables whose rows are locked, in order. SQLite gets the queries without locks."""
    tables = []

    def note(execute, sql, *more):
        if match := LOCK.search(sql):
            tables.append(match[1] + match[2].removeprefix(" FOR UPDATE"))
            sql = sql.removesuffix(match[2])
        return execute(sql, *more)

    # Django leaves locks out for databases without them, and no quick test can start PostgreSQL.
    monkeypatch.setattr(connection.features, "has_select_for_update", True)
    monkeypatch.setattr(connection.features, "has_select_for_update_skip_locked", True)
    with connection.execute_wrapper(note):
        yield tables


@pytest.mark.parametrize(
    "change",
    [
        lambda account: a_folder(account, "Films"),
        lambda account: a_file(account, size_bytes=40),
        lambda account: accounts.set_space(account, 100, NOW),
        lambda account: transfers.add_magnet(account, magnet(), 0, NOW),
        lambda account: accounts.remove(account, NOW),
        lambda account: space.Promise(account, 10**6).cover(10**6),
    ],
    ids=["folder", "file", "space", "transfer", "removal", "upload"],
)
def test_each_change_first_locks_its_account(locked, change):
    account = account_of_alice()
    locked.clear()
    change(account)
    assert locked[0] == "service_account"


def test_a_batch_of_new_files_is_counted_by_one_at_a_time(locked):
    with transaction.atomic():
        database_match.advance()
    assert locked == ["service_library"]


def test_a_worker_takes_transfers_while_it_is_alive_and_skips_those_of_others(locked):
    transfer = transfers.add_magnet(account_of_alice(), magnet(), 0, NOW)
    lease = Lease(Path(settings.DATA_DIR) / "workers")
    lease.hold(NOW, is_engine_alive=True)
    locked.clear()
    assert lease.take([transfer.pk], NOW) == {transfer.pk}
    assert locked == ["service_worker", "service_transfer SKIP LOCKED"]
    lease.release()


def test_two_workers_never_read_the_same_media(locked):
    Media.objects.create(sha1="a" * 40, size_bytes=7, state=Media.State.WANTED)
    assert len(probing.lease(5, NOW, NOW + LEASE)) == 1
    assert locked == ["service_media SKIP LOCKED"]


def test_guesses_at_once_are_all_counted(locked):
    throttle.count([ThrottleKey("a", free=3)])
    wrong_passwords.count([GuessLimit("a", 3, LEASE)], NOW)
    throttle.take(ThrottleKey("a", free=3))
    assert locked == ["webui_throttle", "service_guesses", "webui_throttle"]


def test_owners_decide_about_each_other_one_at_a_time(locked, alice, bob):
    people.change_role(bob.user, Role.GUEST, alice.user)
    people.remove(bob.user, alice.user)
    assert locked[:2] == ["webui_user"] * 2
