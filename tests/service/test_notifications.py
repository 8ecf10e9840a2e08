"""PostgreSQL tells workers on other machines what has changed."""

from contextlib import contextmanager
from queue import Empty, SimpleQueue

import pytest
from django.db import connection, transaction

from service import notifications
from service.accounts import accounts
from service.library import library
from service.transfers import transfers, wake_ups
from tests.leftovers import in_use
from tests.service.builders import NOW, a_file, alice, magnet
from tests.service.fakes import Shift

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgresql]
SECONDS = 10


class Heard(wake_ups.WakeUp):
    """A wake-up that also records its notifications in order."""

    def __init__(self):
        super().__init__()
        self.received = SimpleQueue()

    def note(self, account_id):
        super().note(account_id)
        self.received.put(account_id)

    def next(self):
        return self.received.get(timeout=SECONDS)


@contextmanager
def listening():
    heard = Heard()
    with wake_ups.listen(heard) as can_be_woken:
        assert can_be_woken
        assert heard.next() is None, "anything may have changed before"
        yield heard


def test_a_change_is_heard_by_all_once_it_is_committed():
    account = alice()
    with listening() as one, listening() as other:
        with transaction.atomic():
            transfers.add_magnet(account, magnet(), 0, NOW)
            with pytest.raises(Empty):
                one.received.get(timeout=0.5)
        assert one.next() == account.pk
        assert other.next() == account.pk
        assert one.is_set()
        assert one.take_changes() is None
        assert one.take_changes() == set()


def test_rolled_back_changes_notify_no_one():
    account = alice()
    with listening() as heard:
        with transaction.atomic():
            transfers.add_magnet(account, magnet(), 0, NOW)
            transaction.set_rollback(True)
        transfer = transfers.add_magnet(account, magnet("2"), 0, NOW)
        assert heard.next() == account.pk
        transfers.delete(account, transfer.pk, NOW)
        assert heard.next() == account.pk
        assert heard.received.empty()


def test_space_that_is_freed_is_heard_and_space_that_is_taken_is_not():
    account = alice()
    with listening() as heard:
        file = a_file(account)
        library.rename_file(account, file.pk, "other", NOW)
        library.delete_file(account, file.pk, NOW)
        assert heard.next() == account.pk
        accounts.set_space(account, 2 * 10**9, NOW)
        assert heard.next() == account.pk
        assert heard.received.empty()


def test_a_burst_is_heard_at_once():
    with listening() as heard:
        for account_id in range(400):
            notifications.notify(account_id)
        assert [heard.next() for _each in range(400)] == list(range(400))


def test_every_change_of_a_transfer_notifies_listeners(library_folder):
    account = alice()
    transfers.add_magnet(account, magnet(), 0, NOW)
    with listening() as heard:
        Shift().round()
        assert heard.next() == account.pk


def test_a_lost_connection_is_made_again_and_anything_may_have_changed():
    account = alice()
    with listening() as heard:
        heard.take_changes()
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                " AND datname = current_database()"
            )
        assert heard.next() is None
        assert heard.take_changes() is None
        transfers.add_magnet(account, magnet(), 0, NOW)
        assert heard.next() == account.pk
        assert heard.take_changes() == {account.pk}


def test_a_listener_that_ends_leaves_no_thread():
    before = in_use()
    with listening():
        pass
    assert in_use() <= before
