"""Concurrent operations, in threads on a real database file."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from service.accounts import accounts
from service.errors import Refusal
from service.library import library
from service.models import Account, File, Folder, Transfer
from service.transfers import transfers
from tests.service.builders import NOW, a_file, a_folder, alice, magnet, stored

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 8


def at_once(act):
    """Run `act` in many threads, and return each result: a row, or the name of a refusal."""
    start = Barrier(MANY)

    def one(number):
        start.wait()
        try:
            return act(number)
        except Refusal as refused:
            return type(refused).__name__
        finally:
            connection.close()

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


def good(outcomes):
    return [each for each in outcomes if not isinstance(each, str)]


def test_concurrent_requests_for_a_name_have_one_winner():
    account = alice()
    outcomes = at_once(lambda _n: library.create_folder(account, "Films", NOW))
    assert len(good(outcomes)) == 1
    assert outcomes.count("NameTaken") == MANY - 1
    assert Folder.objects.filter(name="Films").count() == 1


def test_a_file_and_a_folder_never_share_a_name():
    account = alice()
    outcomes = at_once(lambda n: a_file(account, "Films") if n % 2 else a_folder(account, "Films"))
    names = [row.name for row in good(outcomes)]
    assert len(names) - MANY // 2 in (0, 1)  # all files, with numbers, and perhaps one folder
    assert len(set(names)) == len(names)


def test_uploads_of_one_name_are_all_kept():
    account = alice()
    outcomes = at_once(lambda _n: transfers.record_upload(account, "film.mkv", stored(10), 0, NOW))
    names = {"film.mkv", *(f"film ({number}).mkv" for number in range(2, MANY + 1))}
    assert {transfer.title for transfer in outcomes} == names
    assert set(File.objects.values_list("name", flat=True)) == names
    assert Account.objects.get().space_used_bytes == 10 * MANY


def test_the_last_space_is_given_once():
    account = alice(space_max_bytes=100)
    outcomes = at_once(lambda n: a_file(account, f"file {n}", size_bytes=40))
    assert len(good(outcomes)) == 2
    assert outcomes.count("NoRoom") == MANY - 2
    assert Account.objects.get().space_used_bytes == 80
    assert library.root_of(account).size_bytes == 80


def test_a_file_is_deleted_once():
    account = alice()
    file = a_file(account, size_bytes=40)
    a_file(account, "kept", size_bytes=2)
    outcomes = at_once(lambda _n: library.delete_file(account, file.pk, NOW))
    assert outcomes.count("NotFound") == MANY - 1
    assert Account.objects.get().space_used_bytes == 2


@pytest.mark.slow
def test_deleting_a_folder_during_uploads_deletes_or_refuses_the_files():
    account = alice()
    folder = a_folder(account)

    def act(number):
        if number == MANY // 2:
            return library.delete_folder(account, folder.pk, NOW)
        return a_file(account, f"file {number}", folder=folder, size_bytes=10)

    at_once(act)
    assert not File.objects.exists()
    assert Account.objects.get().space_used_bytes == library.root_of(account).size_bytes == 0


def test_the_same_torrent_at_once_is_one_transfer():
    account = alice()
    outcomes = at_once(lambda _n: transfers.add_magnet(account, magnet(name="Sintel"), 0, NOW))
    assert {transfer.pk for transfer in outcomes} == {Transfer.objects.get().pk}


def test_removing_an_account_leaves_nothing_behind():
    account = alice()

    def act(number):
        if number == MANY // 2:
            return accounts.remove(account, NOW)
        return a_file(account, f"file {number}")

    at_once(act)
    assert not Account.objects.exists()
    assert not Folder.objects.exists()
    assert not File.objects.exists()


def test_every_change_has_its_own_revision():
    account = alice()
    at_once(lambda n: a_folder(account, f"folder {n}"))
    assert Account.objects.get().library_revision == MANY
