"""The shared cache of listings: two instances act as two processes."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime

import pytest
from django.db import connection

from tests.webui.service import storage_of
from webui.library import folders
from webui.library.listing_cache import Listings
from webui.v1 import records
from webui.v1.errors import NotFound, Unavailable

SERVICE = "service-1"
NOW = datetime.now(UTC)


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def two(tmp_path, clock):
    return [Listings(tmp_path / "listings.sqlite3", clock=clock) for _process in range(2)]


@pytest.fixture
def processes(tmp_path, monkeypatch):
    """Return a function that switches between two processes with one file and one service.

    A process keeps its store, and no setting gives a process two.
    """
    stores = [Listings(tmp_path / "listings.sqlite3") for _process in range(2)]

    def become(number):
        monkeypatch.setattr(folders, "store", lambda: stores[number])

    become(0)
    return become


def listing_of(*names, folder="7", etag=None, parent="1", name="Films"):
    files = [{"id": 100 + at, "name": each, "size": 5} for at, each in enumerate(names)]
    answer = {"id": folder, "name": name, "parent_id": parent, "files": files, "folders": []}
    return records.listing({**answer, "space_max": 100, "space_used": 40}, folder, etag)


def keep(store, *names, folder="7", number=0, **facts):
    return store.save(SERVICE, folder, listing_of(*names, folder=folder, **facts), number)


def names(known):
    return [entry.name for entry in known.snapshot.contents.entries]


def test_a_listing_read_by_one_process_is_cached_for_the_other(two):
    one, other = two
    assert other.find(SERVICE, "7") is None
    keep(one, "a", "b", etag='"1"')
    known = other.find(SERVICE, "7")
    assert names(known) == ["a", "b"]
    assert known.etag == '"1"'
    assert known.snapshot.parent == "1"
    assert other.space(SERVICE) == (40, 100)


def test_another_services_listing_is_not_shown(two):
    keep(two[0], "a")
    assert two[1].find("service-2", "7") is None


def test_equal_contents_have_one_revision_and_others_another(two):
    first, again, other = keep(two[0], "a"), keep(two[1], "a"), keep(two[1], "b")
    assert first.revision == again.revision != other.revision


def test_an_entry_is_parsed_once_for_each_revision(two):
    keep(two[0], "a")
    once, again = two[1].find(SERVICE, "7"), two[1].find(SERVICE, "7")
    assert once.snapshot.contents is again.snapshot.contents


def test_our_own_changes_mark_a_listing_stale_for_all_processes(two):
    one, other = two
    keep(one, "a")
    one.change(SERVICE, ["7"])
    assert other.find(SERVICE, "7").is_changed
    keep(other, "b", number=other.number(SERVICE, "7"))
    assert not one.find(SERVICE, "7").is_changed
    assert names(one.find(SERVICE, "7")) == ["b"]


def test_a_listing_read_during_our_own_change_is_not_cached(two):
    one, other = two
    keep(one, "old")
    before = other.number(SERVICE, "7")
    one.change(SERVICE, ["7"])
    keep(one, "new", number=one.number(SERVICE, "7"))
    keep(other, "old", number=before)
    assert names(other.find(SERVICE, "7")) == ["new"]
    assert names(one.find(SERVICE, "7")) == ["new"]


def test_only_one_caller_has_the_lock(two):
    one, other = two
    with one.refresh_lock(SERVICE, "7") as first, other.refresh_lock(SERVICE, "7") as second:
        assert first
        assert not second
        with other.refresh_lock(SERVICE, "8") as elsewhere:
            assert elsewhere
    with other.refresh_lock(SERVICE, "7") as now_free:
        assert now_free


def test_the_turn_of_a_process_that_died_expires(two, clock):
    with two[0].refresh_lock(SERVICE, "7") as of_the_one_that_died:
        assert of_the_one_that_died
        with two[1].refresh_lock(SERVICE, "7") as too_early:
            assert not too_early
        clock.now += 61
        with two[1].refresh_lock(SERVICE, "7") as expired:
            assert expired


def test_a_lock_released_too_late_stays_with_the_process_that_took_it_over(two, clock):
    with ExitStack() as late:
        late.enter_context(two[0].refresh_lock(SERVICE, "7"))
        clock.now += 61
        with two[1].refresh_lock(SERVICE, "7"):
            late.close()
            with two[0].refresh_lock(SERVICE, "7") as third:
                assert not third


def test_the_store_is_bounded_in_folders_and_age(two, clock, monkeypatch):
    # No setting makes the limit of 5,000 folders small enough to reach in a test.
    monkeypatch.setattr("webui.library.listing_cache.MOST_FOLDERS", 3)
    for number in range(5):
        clock.now += 1
        keep(two[0], "a", folder=str(10 + number))
    two[0].prune()
    kept = [number for number in range(10, 15) if two[1].find(SERVICE, str(number))]
    assert kept == [12, 13, 14]
    clock.now += 31 * 24 * 3600
    two[0].prune()
    assert two[1].find(SERVICE, "14") is None


def test_the_store_is_bounded_in_bytes(two, clock, monkeypatch):
    # No setting makes the limit of 256 MB small enough to reach in a test.
    monkeypatch.setattr("webui.library.listing_cache.MOST_STORED_BYTES", 10_000)
    for number in range(5):
        clock.now += 1
        keep(two[0], *["x" * 100] * 40, folder=str(10 + number))
    two[0].prune()
    assert two[1].find(SERVICE, "14")
    assert two[1].find(SERVICE, "10") is None


def test_memory_is_bounded_by_entries(tmp_path):
    store = Listings(tmp_path / "listings.sqlite3", most_entries=25)
    for number in range(5):
        keep(store, *map(str, range(10)), folder=str(10 + number))
    # Entries that were evicted are read from the file again, so nothing outside shows this.
    assert len(store._memory._kept) == 2  # noqa: SLF001  As said above.
    assert len(store.find(SERVICE, "10").snapshot.contents) == 10


def test_memory_keeps_no_earlier_revision_of_a_folder(tmp_path):
    store = Listings(tmp_path / "listings.sqlite3")
    for number in range(5):
        keep(store, *(f"{number} {name}" for name in range(10)), folder="10")
    # Nothing outside shows this, either.
    assert store._memory._entries == 10  # noqa: SLF001  As said above.
    assert len(store._memory._kept) == 1  # noqa: SLF001


@pytest.mark.slow
def test_a_hundred_thousand_entries_survive(two):
    keep(two[0], *(f"IMG_{number}.jpg" for number in range(100_000)))
    contents = two[1].find(SERVICE, "7").snapshot.contents
    assert len(contents) == 100_000
    assert contents.in_order("name")[10].name == "IMG_10.jpg"


def test_hostile_names_come_back_as_they_were(two):
    hostile = [
        '<img src=x onerror="alert(1)">',
        "{{7*7}}",
        "a\u202eb",
        "😀",
        "'; DROP TABLE listing",
    ]
    keep(two[0], *hostile)
    assert names(two[1].find(SERVICE, "7")) == hostile


# Folders, read by two processes


@pytest.mark.django_db
def test_a_persons_own_change_shows_at_once_in_the_other_process(processes):
    storage = storage_of("two", is_embedded=False)
    storage.file("a.txt")
    for process in (0, 1):
        processes(process)
        folders.read(storage.service, "0", now=NOW)
    processes(0)
    storage.file("b.txt")
    folders.mark_changed(storage.service, ["0"])
    processes(1)
    reading = folders.read(storage.service, "0", now=NOW)
    assert [entry.name for entry in reading.snapshot.contents.entries] == ["a.txt", "b.txt"]


@pytest.mark.django_db
def test_a_change_marks_the_folders_above_whose_sizes_it_changed(processes):
    storage = storage_of("above", is_embedded=False)
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    for folder in ("0", str(films.id), str(old.id)):
        folders.read(storage.service, folder, now=NOW)
    folders.mark_changed(storage.service, [str(old.id)])
    for folder in ("0", str(films.id), str(old.id)):
        assert folders.store().find(storage.service.key, folder).is_changed


@pytest.mark.django_db(transaction=True)
def test_many_readers_of_a_cold_folder_ask_a_foreign_service_once(processes):
    storage = storage_of("herd", is_embedded=False)
    storage.file("a.txt")
    begun, may_answer = threading.Event(), threading.Event()
    answer = storage.fake.show

    def slow(*args, **kwargs):
        begun.set()
        may_answer.wait(60)
        return answer(*args, **kwargs)

    storage.fake.answer = lambda request, path: slow(request)
    seen = []

    def look():
        seen.append(folders.read(storage.service, "0", now=NOW).snapshot)
        connection.close()

    threads = [threading.Thread(target=look) for _reader in range(8)]
    threads[0].start()
    assert begun.wait(60)
    for thread in threads[1:]:
        thread.start()
    may_answer.set()
    for thread in threads:
        thread.join(60)
    assert len(seen) == 8
    assert len(storage.calls) <= 2


@pytest.mark.django_db
def test_a_recently_unreachable_service_gets_no_request(processes):
    storage = storage_of("away", is_embedded=False)
    storage.file("a.txt")
    folders.read(storage.service, "0", now=NOW)
    storage.fails("/rest/folder", 503)
    away = folders.read(storage.service, "0", now=NOW, at_once=True)
    assert isinstance(away.failure, Unavailable)
    before = len(storage.calls)
    later = datetime.fromtimestamp(datetime.now(UTC).timestamp() + 10, UTC)
    assert folders.read(storage.service, "0", now=later).failure is not None
    assert len(storage.calls) == before


@pytest.mark.django_db
def test_a_vanished_folder_is_forgotten_and_its_parent_remembered(processes):
    storage = storage_of("gone", is_embedded=True)
    films = storage.folder("Films")
    old = storage.folder("Old", films.id)
    folders.read(storage.service, str(old.id), now=NOW)
    storage.fake.delete_folder(None, old.id)
    storage.fake.revision += 1
    with pytest.raises(NotFound) as gone:
        folders.read(storage.service, str(old.id), now=NOW)
    assert gone.value.parent == str(films.id)
    assert folders.store().find(storage.service.key, str(old.id)) is None
