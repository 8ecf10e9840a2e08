"""Search over a whole library, by the index of each database."""

from datetime import timedelta

import pytest
from django.db import connection

from service.library import library
from service.library.search import index as search_index
from service.library.search.search import Limits, Search, find
from service.models import File, Folder
from tests.cases import each_case
from tests.service.builders import NOW, a_file, a_folder, a_tree, alice, mallory

pytestmark = pytest.mark.django_db


def search_names(account, query="", most=200, only="", below=None, **limits):
    """Return the names of what a search finds, folders first."""
    result = find(Search(account, query, Limits(**limits), most, only, below))
    return [row.name for row in (*result.folders, *result.files)]


@each_case(
    ("query", "name"),
    [
        ("bunny", "Big.Buck.Bunny.2008.mkv"),
        ("unn", "Big.Buck.Bunny.2008.mkv"),
        ("bi bu", "Big.Buck.Bunny.2008.mkv"),
        ("BUNNY big 2008", "Big.Buck.Bunny.2008.mkv"),
        ("buck.bunny", "Big Buck Bunny"),
        ("b", "Big Buck Bunny"),
        ("cafe", "Café.txt"),
        ("café", "Cafe\u0301.txt"),
        ("strasse", "Straße.txt"),
        ("神隠し", "千と千尋の神隠し.mp4"),
        ("神", "千と千尋の神隠し.mp4"),
        ("영화", "한국 영화.mkv"),
        ("фильм", "Мой Фильм.avi"),
        ("नमस्ते", "नमस्ते.txt"),
        ("🎉", "party🎉.jpg"),
        ("100%", "100% real.txt"),
        ("a_b", "a_b.txt"),
    ],
)
def test_a_name_is_found_by_its_words_and_parts_of_them(query, name):
    account = alice()
    a_file(account, name)
    a_file(account, "something else.doc")
    assert search_names(account, query) == [name]


@each_case(
    "query", ["buny", "ig", "bunny 1999", "神千", "!!", "*", "x" * 5000, "%", "_", "\0", "'"]
)
def test_words_that_no_name_contains_find_nothing(query):
    account = alice()
    a_file(account, "Big.Buck.Bunny.2008 千と千尋の神隠し.mkv")
    assert search_names(account, query) == []


@each_case(
    "query", ['"a" OR "b"', "abc* NOT def", "NEAR(abc def)", "account:abc", "(", '"""', "-abc"]
)
def test_no_query_is_read_as_the_index_language(query):
    account = alice()
    a_file(account, "abc def.txt")
    words = {word for word in ("or", "not", "near", "account") if word in query.lower()}
    assert search_names(account, query) in ([], ["abc def.txt"])
    assert not (words and search_names(account, query))


def test_words_that_begin_so_come_first_and_then_the_newest():
    account = alice()
    for name in ("rio.txt", "various.txt", "Rio 2.txt", "serious rio.txt"):
        a_file(account, name)
    assert search_names(account, "rio") == [
        "serious rio.txt",
        "Rio 2.txt",
        "rio.txt",
        "various.txt",
    ]
    assert search_names(account, "rio", most=2) == ["serious rio.txt", "Rio 2.txt"]
    assert find(Search(account, "rio", most=2)).has_more
    assert not find(Search(account, "rio", most=4)).has_more


def test_folders_at_any_depth_are_found_too():
    account = alice()
    a_folder(account, "Films")
    deep = a_folder(account, "Films/2024 Films")
    a_file(account, "films.txt", folder=deep)
    assert search_names(account, "films") == ["2024 Films", "Films", "films.txt"]


def test_renamed_and_deleted_things_are_found_as_they_are():
    account = alice()
    folder = a_folder(account, "Films")
    file = a_file(account, "film.mkv", folder=folder)
    library.rename_file(account, file.pk, "movie.mkv", NOW)
    library.rename_folder(account, folder.pk, "Movies", NOW)
    assert search_names(account, "film") == []
    assert search_names(account, "movie") == ["Movies", "movie.mkv"]
    library.delete_folder(account, folder.pk, NOW)
    assert search_names(account, "movie") == []
    assert search_names(account) == []


def test_a_whole_tree_is_found_at_once():
    account = alice()
    a_tree(account, "Photos", [f"Summer {number}/beach.jpg" for number in range(3)])
    assert len(search_names(account, "beach")) == 3
    assert len(search_names(account, "summer")) == 3


def test_search_never_finds_files_of_other_accounts(monkeypatch):
    # A test can't insert 5,000 files.
    monkeypatch.setattr("service.library.search.search.MOST_COMPARED", 3)
    small, large = alice(), mallory()
    a_file(small, "beach of mine.jpg")
    a_tree(large, "Photos", [f"beach {number}.jpg" for number in range(9)])
    assert search_names(small, "beach") == ["beach of mine.jpg"]
    assert search_names(small, "beach 5") == []
    assert len(search_names(large, "beach")) == 9 or connection.vendor == "sqlite"


def test_limits_are_enforced():
    account = alice()
    a_folder(account, "beach")
    a_file(account, "beach.jpg", size_bytes=100)
    a_file(account, "beach.mp4", size_bytes=10)
    a_file(account, "jpg of a beach.txt", size_bytes=1)
    assert search_names(account, "beach", suffixes=("jpg", "png")) == ["beach.jpg"]
    assert search_names(account, suffixes=("mp4", "txt")) == ["jpg of a beach.txt", "beach.mp4"]
    assert search_names(account, "beach", least_bytes=10) == ["beach.mp4", "beach.jpg"]
    assert search_names(account, "beach", most_bytes=10) == ["jpg of a beach.txt", "beach.mp4"]
    assert search_names(account, "beach", since=NOW + timedelta(seconds=1)) == []
    assert len(search_names(account, "beach", since=NOW)) == 3


def test_folders_alone_are_found_also_without_words_and_within_limits():
    account = alice()
    for name in ("Beach", "Beach at night", "Films"):
        a_folder(account, name)
    a_file(account, "beach.jpg")
    assert search_names(account, "beach", only="folders") == ["Beach at night", "Beach"]
    assert search_names(account, only="folders") == ["Films", "Beach at night", "Beach"]
    assert search_names(account, "beach", only="files") == ["beach.jpg"]
    assert search_names(account, only="folders", since=NOW + timedelta(days=1)) == []
    assert search_names(account, only="folders", least_bytes=10**9) == []


def test_a_search_below_a_folder_finds_nothing_beside_it():
    account = alice()
    films = a_tree(account, "Films", ["film.mkv", "Old films/silent film.mkv"])
    a_tree(account, "Films of others", ["film.mkv"])
    a_file(account, "film.txt")
    assert search_names(account, "film", below=films) == [
        *("Old films", "silent film.mkv", "film.mkv")
    ]
    old = Folder.objects.get(name="Old films")
    assert search_names(account, "film", below=old) == ["silent film.mkv"]
    assert search_names(account, below=old) == ["silent film.mkv"]
    assert search_names(account, only="folders", below=films) == ["Old films"]


def test_all_matches_are_counted_up_to_a_limit(monkeypatch):
    # A test can't insert a thousand files.
    monkeypatch.setattr("service.library.search.search.MOST_COUNTED", 5)
    account = alice()
    a_tree(account, "Photos", [f"beach {number}.jpg" for number in range(4)])
    a_folder(account, "beach")
    few = find(Search(account, "beach", most=2))
    assert (len(few.files), few.has_more, few.total, few.has_uncounted) == (2, True, 5, False)
    for number in range(4, 9):
        a_file(account, f"beach {number}.jpg")
    many = find(Search(account, "beach", most=2))
    assert (many.total, many.has_uncounted) == (6, True)


def test_without_a_query_the_newest_files_are_found():
    account = alice()
    for name in ("first.txt", "second.txt"):
        a_file(account, name)
    a_folder(account, "Films")
    assert search_names(account) == search_names(account, "  ") == ["second.txt", "first.txt"]


def test_names_of_an_older_ferry_are_found_once_the_worker_has_read_them():
    account = alice()
    folder = a_tree(account, "Photos", [f"beach {number}.jpg" for number in range(5)])
    File.objects.update(search_text="")
    Folder.objects.update(search_text="")
    assert search_names(account, "beach") == search_names(account, "photos") == []
    search_index.add_missing_texts(NOW)
    assert len(search_names(account, "beach")) == 5
    assert search_names(account, "photos") == [folder.name]
    assert not File.objects.filter(search_text="").exists()


@pytest.mark.sqlite
def test_the_index_follows_every_row():
    account = alice()
    folder = a_tree(account, "Photos", [f"beach {number}.jpg" for number in range(50)])
    assert indexed("bea") == 50
    library.rename_file(account, folder.files.first().pk, "mountain.jpg", NOW)
    assert (indexed("bea"), indexed("mou")) == (49, 1)
    library.delete_folder(account, folder.pk, NOW)
    assert (indexed("bea"), indexed("mou")) == (0, 0)


def indexed(trigram):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM service_file_search WHERE service_file_search MATCH %s",
            [f'"{trigram}"'],
        )
        return cursor.fetchone()[0]


@pytest.mark.postgresql
def test_the_index_finds_parts_of_words():
    with connection.cursor() as cursor:
        # A small table is read faster without an index.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN SELECT id FROM service_file WHERE search_text LIKE '%beach%'")
        assert "service_file_search" in str(cursor.fetchall())
