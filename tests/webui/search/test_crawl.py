"""Search where the service has none: the worker reads its folders, and the site searches those."""

import random
import time
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.search_text import patterns_of, search_text
from tests.cases import each_case
from tests.people import page, words
from tests.webui.service import ROOT
from webui.deleting import held_deletes
from webui.models import IndexedEntry, IndexedFolder, NameIndex
from webui.pruning import prune
from webui.search import name_index
from webui.search.crawl import AFTER_FAILURE, CLAIM, FRESH, WANTED, claim, crawl

pytestmark = pytest.mark.django_db


@pytest.fixture
def work(foreign, clock):
    """Return a function that does the worker's round, and returns the calls that it made."""

    def work(later=timedelta()):
        clock.now += later
        before = len(foreign.calls)
        crawl(clock.now, lambda _seconds: None)
        return foreign.calls[before:]

    return work


def results(person, tail=""):
    return person.client.get(f"/search/results/{tail}")


def names(person, tail=""):
    return [each.get_text() for each in page(results(person, tail)).select("#results .name")]


def test_entries_anywhere_are_found_once_the_worker_has_read_them(gwen, foreign, work):
    films = foreign.folder("Films")
    inner = foreign.folder("A film", films.id)
    film = foreign.file("film.mkv", b"x" * 900, inner.id)
    empty = gwen.client.get("/search/?q=film")
    assert words(empty, "#results .hint") == "Searched 0 of 1 folder so far"
    assert page(empty).select("#results[data-poll][hx-get='/search/results/?q=film']")
    work()
    answer = gwen.client.get("/search/?q=film")
    assert sorted(names(gwen, "?q=film")) == ["A film", "Films", "film.mkv"]
    links = {each["href"] for each in page(answer).select("#results li a")}
    assert links == {
        *(f"/files/{inner.id}/", f"/files/{films.id}/", "/"),
        f"/files/{inner.id}/file-{film.id}/view/",
    }
    assert "Folder: Films/A film" in words(answer, "#results")
    assert words(answer, "#results .hint") == "Searched all 3 folders"
    assert not page(answer).select("#results[data-poll]")
    for link in links:
        assert gwen.client.get(link).status_code == 200


def test_nothing_is_read_unless_someone_searches(gwen, foreign, work):
    foreign.folder("Films")
    gwen.client.get("/")
    assert work() == []
    gwen.client.get("/search/")
    assert len(work()) == 2
    assert work() == []
    assert work(FRESH) == []
    gwen.client.get("/search/")
    assert len(work()) == 2


def test_unchanged_folders_are_requested_with_their_etag(gwen, foreign, work):
    foreign.folder("Films")
    results(gwen)
    work()
    work(FRESH)
    results(gwen)
    before = set(IndexedEntry.objects.values_list("pk", flat=True))
    foreign.file("new.txt")
    work()
    assert before < set(IndexedEntry.objects.values_list("pk", flat=True))
    assert names(gwen, "?q=new") == ["new.txt"]


def test_changes_made_here_are_searchable_once_the_worker_has_read_them(bob, foreign, work):
    file = foreign.file("old.txt", parent=foreign.folder("Films").id)
    results(bob)
    work()
    bob.client.post(f"/files/{file.parent}/file-{file.id}/rename/", {"name": "other.txt"})
    assert len(work()) == 1
    assert names(bob, "?q=other") == ["other.txt"]
    assert names(bob, "?q=old") == []


def test_deletions_and_moves_elsewhere_reach_the_index(gwen, foreign, work, clock):
    first, second = foreign.folder("First"), foreign.folder("Second")
    moved = foreign.folder("Moved", first.id)
    foreign.file("film.mkv", parent=moved.id)
    gone = foreign.folder("Gone", first.id)
    foreign.file("gone.mkv", parent=gone.id)
    results(gwen)
    work()
    moved.parent = second.id
    del foreign.fake.items[gone.id]
    foreign.fake.revision += 1
    for _round in range(2):
        clock.now += FRESH
        results(gwen)
        work()
    assert "Folder: Second/Moved" in words(results(gwen, "?q=film"), "#results")
    assert names(gwen, "?q=gone") == []
    assert IndexedFolder.objects.count() == 4


def test_deleted_entries_are_never_found(bob, foreign, work, clock):
    file, folder = foreign.file("a film.mkv"), foreign.folder("Films")
    foreign.file("another film.mkv", parent=foreign.folder("Inner", folder.id).id)
    results(bob)
    work()
    chosen = {"entry": [f"file-{file.id}", f"folder-{folder.id}"]}
    bob.client.post("/files/0/delete/", chosen)
    assert names(bob, "?q=film") == []
    held_deletes.delete_due(clock.now + held_deletes.HELD)
    assert names(bob, "?q=film") == []
    assert not IndexedEntry.objects.exists()


def test_folders_that_people_change_are_read_before_others(bob, foreign, work):
    file = foreign.file("old.txt", parent=foreign.folder("Films").id)
    results(bob)
    work()
    IndexedFolder.objects.exclude(folder=str(file.parent)).update(is_read=False)
    bob.client.post(f"/files/{file.parent}/file-{file.id}/rename/", {"name": "other.txt"})
    assert work()[0][1] == f"/rest/folder/{file.parent}"


def test_a_large_folder_is_written_bit_by_bit(gwen, foreign, work):
    foreign.many(1_200)
    results(gwen)
    with CaptureQueriesContext(connection) as queries:
        work()
    inserts = [each for each in queries if 'INSERT INTO "webui_indexedentry"' in each["sql"]]
    assert len(inserts) >= 3
    assert IndexedEntry.objects.count() == 1_200


def test_a_folder_is_found_among_many_newer_files(gwen, foreign, work, monkeypatch):
    monkeypatch.setattr(name_index, "MOST_COMPARED", 20)  # No setting makes it smaller.
    foreign.folder("Holiday")
    for number in range(30):
        foreign.file(f"holiday {number}.jpg")
    results(gwen)
    work()
    assert names(gwen, "?q=holiday")[0] == "Holiday"
    assert names(gwen, "?q=h")[0] == "Holiday"


def test_a_service_that_fails_is_left_in_peace_for_a_while(gwen, foreign, work, clock):
    foreign.file("film.mkv")
    results(gwen)
    foreign.fails("/rest/folder", 503)
    work()
    foreign.is_back()
    assert work(timedelta(seconds=10)) == []
    assert len(work(AFTER_FAILURE)) == 1
    assert names(gwen, "?q=film") == ["film.mkv"]
    assert WANTED > AFTER_FAILURE


def test_a_deleted_folder_delays_no_other(gwen, foreign, work):
    gone, other = foreign.folder("Gone"), foreign.folder("Other")
    foreign.file("film.mkv", parent=other.id)
    results(gwen)
    foreign.fails(f"/rest/folder/{gone.id}", 404, "not_found")
    work()
    assert names(gwen, "?q=film") == ["film.mkv"]


def test_one_worker_at_a_time_reads(gwen, foreign):
    results(gwen)
    now = timezone.now()
    assert claim(foreign.service, now)
    assert claim(foreign.service, now) is None
    assert claim(foreign.service, now + CLAIM)


def test_a_turn_ends_and_rests_as_long_as_the_service_took(gwen, foreign, monkeypatch):
    for number in range(20):
        foreign.folder(f"{number}")
    results(gwen)
    seconds = iter(range(1_000))
    # A service that takes a second to answer; no setting makes the fake slow.
    monkeypatch.setattr(time, "monotonic", lambda: next(seconds))
    rests = []
    crawl(timezone.now(), rests.append)
    assert rests == [1]


def test_a_folder_that_contains_itself_ends_the_crawl_and_every_path(gwen, foreign, work):
    outer = foreign.folder("Outer")
    inner = foreign.folder("Inner", outer.id)
    foreign.file("film.mkv", parent=inner.id)
    results(gwen)
    work()
    IndexedFolder.objects.filter(folder=str(outer.id)).update(parent=str(inner.id))
    assert names(gwen, "?q=film") == ["film.mkv"]
    assert work(timedelta(seconds=1)) == []


def test_an_endless_library_is_read_up_to_a_limit(gwen, foreign, work, monkeypatch):
    for number in range(5):
        foreign.folder("Inner", foreign.folder(f"{number}").id)
    # No test should need a million files; no setting makes the limit smaller.
    monkeypatch.setattr("webui.search.crawl.MOST_FOLDERS", 3)
    monkeypatch.setattr("webui.search.crawl.MOST_ENTRIES", 4)
    results(gwen)
    work()
    work(FRESH)
    assert IndexedFolder.objects.count() == 3
    assert IndexedEntry.objects.count() == 4
    searched, too_large = page(results(gwen)).select("#results .hint")
    assert searched.get_text() == "Searched all 3 folders"
    assert "more files and folders than Ferry can search" in too_large.get_text()


def test_folders_beyond_the_limit_are_indexed_once_there_is_space(gwen, foreign, work, clock):
    foreign.folder("A"), foreign.folder("B")
    results(gwen)
    with pytest.MonkeyPatch.context() as patch:
        # As above.
        patch.setattr("webui.search.crawl.MOST_FOLDERS", 2)
        work()
    assert "more files" in words(results(gwen), "#results")
    clock.now += FRESH
    results(gwen)
    work()
    assert IndexedFolder.objects.count() == 3
    assert "more files" not in words(results(gwen), "#results")


@each_case("status", [403, 422, 500])
def test_a_folder_that_always_fails_keeps_no_other_waiting(status, gwen, foreign, work):
    for name in ("A", "B", "C"):
        foreign.file(f"{name}.mkv", parent=foreign.folder(name).id)
    broken = next(each for each in foreign.fake.items.values() if each.name == "A")
    results(gwen)
    for _turn in range(3):
        foreign.fails(f"/rest/folder/{broken.id}", status)
        work(AFTER_FAILURE)
        results(gwen)
    assert set(names(gwen, "?q=mkv")) == {"B.mkv", "C.mkv"}


def test_a_folder_that_was_not_found_once_is_found_again(gwen, foreign, work, clock):
    folder = foreign.folder("Films")
    foreign.file("film.mkv", parent=folder.id)
    results(gwen)
    work()
    foreign.fails(f"/rest/folder/{folder.id}", 404, "not_found")
    for _turn in range(3):
        clock.now += FRESH
        results(gwen)
        work()
        foreign.is_back()
    assert names(gwen, "?q=film.mkv") == ["film.mkv"]


def test_the_root_under_its_other_id_is_not_a_folder(gwen, foreign, work):
    foreign.file("film.mkv")
    results(gwen)
    work()
    index = NameIndex.objects.get()
    now = timezone.now()
    IndexedFolder.objects.create(index=index, folder=str(ROOT), parent="0", due_at=now)
    work(timedelta(seconds=1))
    assert names(gwen, "?q=film") == ["film.mkv"]
    assert IndexedFolder.objects.count() == 1


def test_hostile_names_are_searched_as_they_are(gwen, foreign, work):
    for name in ("<img src=x>.jpg", "a\0film.mkv", "100%_a", "\u202egpj.exe", "x" * 1024):
        item = foreign.file("y")
        item.name = name
    results(gwen)
    work()
    assert IndexedEntry.objects.count() == 5
    assert names(gwen, "?q=100%25") == ["100%_a"]
    assert len(names(gwen, "?q=img")) == 1
    assert names(gwen, "?q=%25%25%25") == []
    work(FRESH)


def test_limits_count_as_at_our_own_service(gwen, foreign, work):
    foreign.file("big film.mkv", b"x")
    foreign.file("film.txt", b"x")
    foreign.folder("films")
    results(gwen)
    work()
    IndexedEntry.objects.update(added=(timezone.now() - timedelta(days=2)).timestamp())
    new = timezone.now().timestamp()
    IndexedEntry.objects.filter(name="big film.mkv").update(size_bytes=2 * 10**9, added=new)
    assert names(gwen, "?q=film&kind=film") == ["big film.mkv"]
    assert names(gwen, "?q=film&size=1000") == ["big film.mkv"]
    assert names(gwen, "?q=film&days=1") == ["big film.mkv"]
    assert names(gwen, "?q=film&days=7") == ["big film.mkv", "film.txt"]
    assert names(gwen) == ["big film.mkv", "film.txt"]


def test_folders_alone_and_below_one_are_found_as_at_our_own_service(gwen, foreign, work):
    films = foreign.folder("Films")
    old = foreign.folder("Old films", films.id)
    foreign.file("film.mkv", parent=old.id)
    foreign.file("film.txt")
    results(gwen)
    work()
    assert sorted(names(gwen, "?q=film&kind=folder")) == ["Films", "Old films"]
    assert sorted(names(gwen, "?kind=folder")) == ["Films", "Old films"]
    assert names(gwen, f"?q=film&in={films.id}") == ["Old films", "film.mkv"]
    assert names(gwen, f"?q=film&in={old.id}") == ["film.mkv"]
    assert names(gwen, f"?in={old.id}") == ["film.mkv"]
    old.parent, films.parent = films.id, old.id
    IndexedFolder.objects.filter(folder=films.id).update(parent=old.id)
    assert names(gwen, f"?q=film&in={old.id}") == ["Old films", "film.mkv"]


def test_many_results_are_cut_and_shown_on_demand(gwen, foreign, work):
    foreign.many(300)
    results(gwen)
    work()
    assert len(names(gwen, "?q=img")) == 20
    assert words(results(gwen, "?q=img"), "#results h2") == "300 results"
    answer = gwen.client.get("/search/?q=img&all=1")
    assert len(page(answer).select("#results .name")) == 200
    assert "Add a word to see fewer" in words(answer, "#results")


@each_case(
    "query, name",
    [
        ("buck bunny", "Big_Buck-Bunny.mkv"),
        ("uck", "Big_Buck-Bunny.mkv"),
        ("STRASSE", "straße.txt"),
        ("ecole", "École.txt"),
        ("电影", "我的电影.mkv"),
        ("илм", "Фильм-илмен.avi"),
        ("s01e02", "Show.S01E02.mkv"),
        ("party", "a🎉party.jpg"),
        ("🎉", "a🎉party.jpg"),
    ],
)
def test_names_match_by_words_and_parts(query, name, gwen, foreign, work):
    foreign.file(name)
    foreign.file("zzz.bin")
    results(gwen)
    work()
    assert names(gwen, f"?q={query}") == [name]
    assert patterns_of(query, at_start=False)
    assert search_text(name).startswith(" ")


def test_names_with_a_word_that_starts_with_the_query_come_first(gwen, foreign, work):
    foreign.file("sunflower.jpg")
    foreign.file("flower.jpg")
    foreign.file("wallflower.jpg")
    results(gwen)
    work()
    assert names(gwen, "?q=flower")[0] == "flower.jpg"


def test_a_filter_offers_matches_in_other_folders(gwen, foreign, work):
    films = foreign.folder("Films")
    foreign.file("here.txt")
    there = foreign.file("and here.txt", parent=films.id)
    listing = page(gwen.client.get("/files/0/listing/?q=here"))
    (loads,) = listing.select("[hx-get^='/search/elsewhere/']")
    gwen.client.get(loads["hx-get"])
    work()
    found = page(gwen.client.get(loads["hx-get"]))
    assert [each["href"] for each in found.select(".name")] == [
        f"/files/{films.id}/file-{there.id}/view/"
    ]


def test_an_unused_index_is_deleted(gwen, foreign, work):
    foreign.folder("Films")
    results(gwen)
    work()
    prune(timezone.now() + timedelta(days=29))
    assert IndexedFolder.objects.exists()
    prune(timezone.now() + timedelta(days=31))
    assert not NameIndex.objects.exists()
    assert not IndexedFolder.objects.exists()


def test_our_own_service_is_not_crawled(gwen, storage):
    storage.folder("Films")
    gwen.client.get("/search/?q=film")
    before = len(storage.calls)
    crawl(timezone.now())
    assert len(storage.calls) == before
    assert not NameIndex.objects.exists()


def test_after_any_changes_the_index_is_what_the_service_has(gwen, foreign, work, clock):
    chance = random.Random(7)
    fake = foreign.fake
    for step in range(60):
        folders = [ROOT, *(each.id for each in fake.items.values() if each.content is None)]
        act = chance.random()
        if act < 0.6 or len(fake.items) < 4:
            add = foreign.folder if chance.random() < 0.4 else foreign.file
            add(f"item {step}", parent=chance.choice(folders))
        elif act < 0.8:
            chance.choice([*fake.items.values()]).name = f"renamed {step}"
        else:
            leaves = [
                each
                for each in fake.items.values()
                if each.id != ROOT and not any(one.parent == each.id for one in fake.items.values())
            ]
            del fake.items[chance.choice(leaves).id]
        fake.revision += 1
        if step % 5 == 0:
            clock.now += FRESH
            results(gwen)
            work()
    for _round in range(3):
        clock.now += FRESH
        results(gwen)
        work()
    rows = IndexedEntry.objects.values_list("entry_id", "name", "folder__folder")
    expected = {
        (str(each.id), each.name, "0" if each.parent == ROOT else str(each.parent))
        for each in fake.items.values()
        if each.id != ROOT
    }
    assert set(rows) == expected
    assert name_index.want(foreign.service, clock.now).is_whole
