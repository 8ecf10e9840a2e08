"""A database that is older than its library: nothing is lost, and the owner decides."""

import os
import sqlite3
from contextlib import closing
from datetime import date, datetime, timedelta

import pytest
from django.db import connection

from service.errors import NoRoom, StoreAway
from service.library import library
from service.library.upkeep import database_match, recovery
from service.library.upkeep.database_match import Doubt, doubt_about
from service.library.upkeep.recovery import Name
from service.library.upkeep.sweep import Swept, sweep, sweep_leavings
from service.models import Discarded, File, Library
from tests.service.builders import a_file, a_folder, a_tree, alice, mallory, put
from tests.service.reading import contents_of

pytestmark = pytest.mark.django_db(transaction=True)
GRACE = timedelta(hours=1)
OLD = timedelta(days=3)
NOTHING = Swept(discarded=0, drafts=0)


@pytest.fixture
def now():
    return datetime.now().astimezone()


@pytest.fixture
def store(library_folder):
    return library_folder


def age(store, blob):
    then = store.path(blob).stat().st_mtime - OLD.total_seconds()
    os.utime(store.path(blob), (then, then))


def put_older_copy_back(files, counted):
    """Make the database forget these files, as an older copy would."""
    File.objects.filter(pk__in=[each.pk for each in files]).delete()
    Library.objects.update(generation=counted)


@pytest.fixture
def newer(store):
    """Return two files that the older database doesn't know."""
    account = alice()
    a_file(account, "before", blob=put(store, b"before"))
    counted = database_match.generation_of_database()
    files = [
        a_file(account, "film.mkv", blob=put(store, b"\x1aE\xdf\xa3 a film")),
        a_file(account, "notes", blob=put(store, b"some notes")),
    ]
    put_older_copy_back(files, counted)
    for each in files:
        age(store, each.blob)
    return files


def test_a_database_that_is_older_than_the_library_is_recognized(store, newer):
    assert doubt_about(store) == Doubt.BEHIND


def test_every_way_of_adding_files_counts_a_batch(store):
    account = alice()
    for number, bring in enumerate(
        [lambda: a_file(account, blob=put(store)), lambda: a_tree(account, "Films", ["a", "b/c"])],
        1,
    ):
        bring()
        assert store.generation() == database_match.generation_of_database() == number


def test_beside_an_older_database_nothing_is_removed(store, newer, now, caplog):
    account = alice_again()
    doomed = a_file(account, "doomed", blob=put(store))
    library.delete_file(account, doomed.pk, now - OLD)
    draft = store.writer()
    with draft:
        assert sweep_leavings(store, now + OLD, GRACE) == NOTHING
        assert sweep(store, now, GRACE) == NOTHING
        draft.write(b"half")
    for each in newer:
        assert store.size(each.blob) == each.size_bytes
    assert store.size(doomed.blob) == doomed.size_bytes
    (line,) = [each.getMessage() for each in caplog.records if each.name == "ferry.sweep"]
    assert line.startswith("the database is older than the library: nothing is removed;")


def alice_again():
    return library.Account.objects.get(email="alice@example.org")


def test_files_added_in_the_meantime_do_not_make_the_database_look_newer(store, newer, now):
    for number in range(5):
        a_file(alice_again(), f"{number}", blob=put(store))
    assert doubt_about(store) == Doubt.BEHIND
    assert sweep(store, now, GRACE) == NOTHING


def test_a_restored_newer_database_counts_as_behind_too(store):
    account = alice()
    a_file(account, "before", blob=put(store))
    Library.objects.update(generation=0)
    a_file(account, "in the older one", blob=put(store))
    Library.objects.update(generation=1)
    assert doubt_about(store) == Doubt.BEHIND


def test_a_change_that_is_rolled_back_raises_no_doubt(store):
    account = alice(space_max_bytes=100)
    a_file(account, blob=put(store))
    with pytest.raises(NoRoom):
        a_tree(account, "Films", ["film"] + [f"{number}" for number in range(20)])
    assert doubt_about(store) is None
    assert store.generation() == database_match.generation_of_database()


def test_a_library_that_missed_the_last_number_catches_up(store, now):
    """A power cut between the commit and the write of the library's count causes this."""
    a_file(alice(), blob=put(store))
    Library.objects.update(generation=7)
    sweep(store, now, GRACE)
    assert store.generation() == 7


def test_the_number_never_falls(store):
    store.reach_generation(12)
    store.reach_generation(3)
    assert store.generation() == 12


def test_adopted_files_get_descriptive_names(store, newer, now):
    found = recovery.find_unnamed(store, now)
    (made,) = recovery.put_in_folders(
        store, found, names={}, otherwise=alice_again(), folder="Recovered", now=now
    )
    assert (made.folder, made.count) == ("Recovered", 2)
    listing = contents_of(alice_again(), library.root_of(alice_again()).folders.get().pk)
    assert sorted(row.name.rpartition(".")[2] for row in listing.files) == ["bin", "mkv"]
    kept = {row.sha1 for row in listing.files}
    assert kept == {each.sha1 for each in newer}
    assert doubt_about(store) is None
    assert sweep(store, now + OLD, GRACE).missing == 0
    assert all(store.size(each.blob) for each in newer)


def test_another_copy_of_the_database_gives_back_names_folders_and_accounts(store, now, tmp_path):
    account, other = alice(), mallory()
    films = a_folder(account)
    inner = library.create_folder(account, "Films/2024", now)
    counted = database_match.generation_of_database()
    ours = a_file(account, "film.mkv", folder=inner, blob=put(store, b"ours"))
    theirs = a_file(other, "notes.txt", blob=put(store, b"theirs"))
    copy = tmp_path / "newer.sqlite3"
    copy_tables(copy)
    put_older_copy_back([ours, theirs], counted)
    found = recovery.find_unnamed(store, now + OLD)
    names = recovery.names_in([tmp_path / "none.sqlite3", copy], [each.blob for each in found])
    assert names == {
        ours.blob: Name(account.email, ("Films", "2024", "film.mkv")),
        theirs.blob: Name(other.email, ("notes.txt",)),
    }
    made = recovery.put_in_folders(
        store, found, names=names, otherwise=account, folder="Recovered", now=now
    )
    assert {each.email for each in made} == {account.email, other.email}
    assert File.objects.get(blob=ours.blob).folder.name == "2024"
    assert File.objects.get(blob=theirs.blob).account == other
    assert films.pk != inner.pk


def copy_tables(place):
    """Copy what `recovery` reads to SQLite, from whatever database the tests use."""
    with closing(sqlite3.connect(place)) as copy, connection.cursor() as cursor, copy:
        for table, columns in (
            ("service_account", "id, email"),
            ("service_folder", "id, parent_id, name"),
            ("service_file", "blob, name, folder_id, account_id"),
        ):
            cursor.execute(f"SELECT {columns} FROM {table}")
            copy.execute(f"CREATE TABLE {table} ({columns})")
            marks = ",".join("?" * len(columns.split(",")))
            copy.executemany(f"INSERT INTO {table} VALUES ({marks})", cursor.fetchall())


def test_discarded_they_stay_for_days_and_can_be_restored(store, newer, now):
    found = recovery.find_unnamed(store, now)
    assert recovery.discard(store, found, now) == 2
    assert doubt_about(store) is None
    assert sweep(store, now, GRACE) == NOTHING
    orphans = list(store.orphans())
    assert {each.blob for each in orphans} == {each.blob for each in newer}
    for each in orphans:
        store.bring_back(each)
    assert list(store.orphans()) == []
    assert all(store.size(each.blob) == each.size_bytes for each in newer)
    assert sweep(store, now, GRACE) == NOTHING


def test_a_blob_without_a_row_is_set_aside_for_so_many_days(store, now):
    stored = put(store)
    age(store, stored.blob)
    assert sweep(store, now, GRACE).orphans == 1
    assert [each.since for each in store.orphans()] == [now.date()]
    assert sweep(store, now + timedelta(days=29), GRACE).dropped == 0
    assert [each.size_bytes for each in store.orphans()] == [stored.size_bytes]
    assert sweep(store, now + timedelta(days=30), GRACE).dropped == 1
    assert list(store.orphans()) == []


def test_deletions_by_people_free_space_without_that_delay(store, now):
    account = alice()
    file = a_file(account, blob=put(store))
    library.delete_file(account, file.pk, now)
    assert sweep_leavings(store, now + GRACE, GRACE).discarded == 1
    assert list(store.orphans()) == []


def test_while_a_backup_is_under_way_blobs_stay(store, now):
    account = alice()
    file = a_file(account, blob=put(store))
    library.delete_file(account, file.pk, now)
    stray = put(store)
    age(store, stray.blob)
    with store.hold_all():
        assert sweep(store, now + GRACE, GRACE) == NOTHING
        assert Discarded.objects.count() == 1
    assert sweep(store, now + GRACE, GRACE) == Swept(discarded=1, drafts=0, orphans=1)


def test_a_folder_among_the_orphans_that_no_day_names_is_left_alone(store, now):
    odd = store.mark.parent / "orphans" / "mine"
    odd.mkdir(parents=True)
    (odd / "a").write_bytes(b"kept")
    sweep(store, now + timedelta(days=4000), GRACE)
    assert (odd / "a").exists()
    assert store.drop_orphans(date.max) == 0
    assert (odd / "a").exists()


# A library without the database's mark


def test_a_library_without_a_mark_is_not_claimed_by_a_database_with_files(store):
    a_file(alice(), blob=put(store, b"a film"))
    store.mark.unlink()
    assert doubt_about(store) == Doubt.MISSING
    assert not store.mark.exists()
    assert sweep(store, datetime.now().astimezone(), GRACE) == NOTHING
    assert store.losses() is None


def test_the_first_file_of_a_database_claims_the_library(store):
    a_file(alice(), blob=put(store, b"a film"))
    assert store.owner() == database_match.identity()


def test_no_file_is_added_to_the_library_of_another_database(store):
    assert store.claim_for("another")
    with pytest.raises(StoreAway):
        a_file(alice(), blob=put(store, b"a film"))
    assert not File.objects.exists()
