"""GET /rest/search."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.cases import each_case
from tests.service.builders import a_file, a_folder, a_tree

PATH = "/rest/search"


def names(answer):
    body = answer.json()
    return [each["name"] for each in (*body["folders"], *body["files"])]


def test_results_say_where_they_are(api, account, stranger):
    films = a_folder(account, "Films")
    inner = a_folder(account, "Films/2024")
    file = a_file(account, "a film of 2024.mkv", folder=inner, size_bytes=7)
    body = api.get(f"{PATH}?q=2024").json()
    (folder,), (found,) = body["folders"], body["files"]
    assert (folder["id"], folder["folder_id"], folder["folder"]) == (inner.pk, films.pk, "Films")
    assert (found["id"], found["size"], found["folder"]) == (file.pk, 7, "Films/2024")
    assert found["folder_id"] == inner.pk
    assert not body["has_more"]
    assert names(stranger.get(f"{PATH}?q=2024")) == []


def test_limits_are_read(api, account):
    for name, size in (("a.mkv", 10), ("b.mp4", 20), ("c.txt", 30)):
        a_file(account, name, size_bytes=size)
    assert names(api.get(f"{PATH}?types=MKV,mp4,,*")) == ["b.mp4", "a.mkv"]
    assert names(api.get(f"{PATH}?min_size=20&max_size=20")) == ["b.mp4"]
    assert names(api.get(f"{PATH}?days=100000000000000000")) == ["c.txt", "b.mp4", "a.mkv"]
    assert names(api.get(f"{PATH}?limit=1")) == ["c.txt"]
    assert names(api.get(f"{PATH}?limit=0")) == []
    assert len(names(api.get(f"{PATH}?limit=1000000"))) == 3


def test_folders_alone_and_below_one_are_found_and_counted(api, account, stranger):
    films = a_tree(account, "Films", ["film.mkv", "Old/film.mkv"])
    a_file(account, "film.txt")
    assert names(api.get(f"{PATH}?q=film&only=folders")) == ["Films"]
    assert names(api.get(f"{PATH}?q=film&only=files&folder_id={films.pk}")) == ["film.mkv"] * 2
    body = api.get(f"{PATH}?q=film&limit=1").json()
    assert (body["count"], body["has_uncounted"], body["has_more"]) == (4, False, True)
    assert stranger.get(f"{PATH}?q=film&folder_id={films.pk}").status_code == 404


@each_case("query", ["limit=x", "min_size=-1", "days=1.5", "q=%ff"])
def test_malformed_searches_are_refused(query, api):
    answer = api.get(f"{PATH}?{query}")
    assert answer.status_code in (200, 422)
    assert answer.status_code == 422 or names(answer) == []


def test_long_hostile_queries_are_answered(api, account):
    a_file(account, "x" * 255)
    for query in ("x" * 7000, "x " * 3000, "%F0%9F%8E%89" * 500, "%00", "%EF%BF%BF'\")(*"):
        assert names(api.get(f"{PATH}?q={query}")) in ([], ["x" * 255])


def test_a_search_asks_the_database_no_more_for_many_than_for_few(api, account):
    api.get(f"{PATH}?q=beach")
    a_tree(account, "Photos", [f"{number % 40}/beach {number}.jpg" for number in range(90)])
    with CaptureQueriesContext(connection) as many:
        assert len(names(api.get(f"{PATH}?q=beach"))) == 90
    assert len(many) <= 12
