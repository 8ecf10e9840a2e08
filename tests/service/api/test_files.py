from django.db import connection
from django.test.utils import CaptureQueriesContext

from service.library import library
from tests.cases import each_case
from tests.service.api.reading import word
from tests.service.builders import a_file, a_folder, a_tree


def test_a_download_leads_to_an_absolute_link(api, account):
    answer = api.get(f"/rest/file/{a_file(account).pk}")
    assert (answer.status_code, answer.content) == (302, b"")
    assert answer.headers["location"].startswith("http://localhost/content/")


def test_a_link_that_shows_the_file_is_had_for_the_asking(api, account):
    file = a_file(account, "a.pdf")
    plain, shown = (api.get(f"/rest/file/{file.pk}{query}") for query in ("", "?inline=1"))
    assert "i=1" not in plain.headers["location"]
    assert shown.headers["location"].endswith("&i=1")


@each_case("prefix", ["/ferry"])
def test_the_link_knows_where_ferry_is_mounted(prefix, api, account, settings):
    settings.URL_PREFIX = prefix
    answer = api.get(f"/rest/file/{a_file(account).pk}")
    assert answer.headers["location"].startswith("http://localhost/ferry/content/")


@each_case(
    ("name", "refusal"),
    [
        ("", (422, "name_empty")),
        ("  ", (422, "name_empty")),
        ("a/b", (422, "name_not_allowed")),
        ("..", (422, "name_not_allowed")),
        ("x" * 256, (422, "name_too_long")),
        ("Films", (409, "name_taken")),
    ],
)
def test_an_impossible_name_is_refused(name, refusal, api, account):
    a_folder(account, "Films")
    file = a_file(account, "a.txt")
    answer = api.post(f"/rest/file/{file.pk}/rename", data={"rename_to": name})
    assert word(answer) == refusal
    assert library.file(account, file.pk).name == "a.txt"


def test_renaming_to_the_same_name_is_not_a_conflict(api, account):
    file = a_file(account, "a.txt")
    answer = api.post(f"/rest/file/{file.pk}/rename", data={"rename_to": "a.txt"})
    assert answer.json() == {"success": True, "result": True, "code": 200}


def test_a_stranger_reaches_no_file_of_mine(stranger, account):
    path = f"/rest/file/{a_file(account).pk}"
    answers = [stranger.get(path + tail) for tail in ("", "/hls", "/mp4", "/image", "/thumbnail")]
    answers += [stranger.delete(path), stranger.post(f"{path}/delete")]
    answers += [stranger.post(f"{path}/rename", data={"rename_to": "x"})]
    assert {word(answer) for answer in answers} == {(404, "not_found")}


def test_media_without_a_worker_to_make_them_say_so(api, account):
    path = f"/rest/file/{a_file(account, 'a.mkv').pk}"
    for answer in (api.get(f"{path}/hls"), api.get(f"{path}/mp4")):
        assert word(answer) == (503, "no_worker")
        assert "worker" in answer.json()["message"]


def test_the_largest_files_come_with_their_folders(api, account, stranger):
    films = a_folder(account, "Films")
    inner = a_folder(account, "Films/2024")
    a_file(account, "b", folder=inner, size_bytes=5)
    a_file(account, "a", size_bytes=9)
    a_file(account, "c", folder=films, size_bytes=1)
    found = api.get("/rest/files/largest").json()["files"]
    rows = [(each["name"], each["size"], each["folder"]) for each in found]
    assert rows == [("a", 9, ""), ("b", 5, "Films/2024"), ("c", 1, "Films")]
    assert [each["folder_id"] for each in found[1:]] == [inner.pk, films.pk]
    assert stranger.get("/rest/files/largest").json()["files"] == []


def test_the_largest_files_ask_the_database_no_more_for_many_than_for_few(api, account):
    api.get("/rest/files/largest")
    with CaptureQueriesContext(connection) as few:
        api.get("/rest/files/largest")
    a_tree(account, "Photos", [f"{number % 40}/{number}.jpg" for number in range(90)])
    with CaptureQueriesContext(connection) as many:
        assert len(api.get("/rest/files/largest").json()["files"]) == 90
    assert len(many) <= len(few) + 2
