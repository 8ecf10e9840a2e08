"""Row 2: a foreign service answers with code, and with nonsense."""

import json

import httpx
import pytest

from tests.attacks.test_01_names import NAMES, counts, harmless
from tests.cases import each_case
from tests.people import page
from tests.webui.service import EMAIL, PASSWORD
from webui.models import Sent

pytestmark = pytest.mark.django_db
LINKS = ["javascript:alert(1)", "data:text/html,<script>1</script>", "//evil.example/x", "x\ny", 5]


def answers(foreign, **facts):
    body = {"id": 1, "name": "", "parent_id": -1, "files": [], "folders": [], "result": True}
    answer = httpx.Response(200, content=json.dumps({**body, **facts}))
    foreign.says("/rest/folder", *[answer for _time in range(9)])


def row(**facts):
    return {"id": 7, "name": "a.jpg", "size": 5, "last_update": "2026-09-01 12:00:00", **facts}


def test_names_of_a_foreign_service_are_text(bob, foreign):
    def list_names(names):
        files = [row(id=100 + at, name=name) for at, name in enumerate(names)]
        answers(foreign, files=files, folders=[{"id": 8, "name": names[0]}], name=names[0])

    list_names(["plain"] * len(NAMES))
    plain = counts(bob.client.get("/"))
    list_names(NAMES)
    shown = bob.client.get("/", headers={"cache-control": "max-age=0"})
    harmless(shown, plain)
    assert {tag["title"] for tag in page(shown).select(".entry-name")} == set(NAMES)


@each_case("link", LINKS)
def test_an_invalid_thumbnail_link_appears_on_no_page(bob, foreign, link):
    pictures = {"image": {"220": link, "x": link}, "video": {"hls": link}}
    answers(foreign, files=[row(thumb=link, presentation_urls=pictures, hash=link)])
    for path in ("/", "/?view=grid"):
        shown = page(bob.client.get(path))
        for tag in shown.select("main [src], main [href], main [srcset]"):
            for value in (tag.get("src"), tag.get("href")):
                assert value is None or value.startswith(("/", "#"))


@each_case(
    "bad", ["../account", "7/../../user", "?x", "#", "7 8", "%2e", "", -5, 1.5, None, [], {}, True]
)
def test_ids_that_turn_into_paths_become_no_row(bob, foreign, bad):
    answers(
        foreign, files=[row(id=bad), row(id=9, name="good")], folders=[{"id": bad, "name": "x"}]
    )
    rows = page(bob.client.get("/")).select(".entry-name")
    assert [tag["title"] for tag in rows] == ["good"]


@pytest.mark.promise("no answer of a service breaks a page")
@pytest.mark.slow
@each_case(
    "facts",
    [
        {"size": -1},
        {"size": 10**400},
        {"size": "NaN"},
        {"size": [1]},
        {"last_update": "yesterday"},
        {"last_update": "9999-99-99 99:99:99"},
        {"last_update": 5},
        {"hash": "../../x"},
        {"name": None},
        {"name": 5},
        {"name": "x" * 100_000},
        {"name": "\ud800"},
        {"is_video": "no", "play_video": []},
    ],
)
def test_values_of_any_kind_leave_the_page_standing(bob, foreign, facts):
    answers(foreign, files=[row(**facts), row(id=9, name="good")])
    for path in ("/", "/?view=grid&sort=-size", "/files/0/delete/?all=1"):
        answer = bob.client.get(path)
        assert answer.status_code == 200
        assert "good" in page(answer).select_one("main").get_text()


@each_case(
    "facts",
    [
        {"space_max": "x", "space_used": -5},
        {"space_max": 10**400, "space_used": 10**400},
        {"parent_id": "../1", "fullname": "../../etc", "path": 7},
    ],
)
def test_a_listing_of_any_shape_leaves_the_page_standing(bob, foreign, facts):
    answers(foreign, **facts)
    assert bob.client.get("/").status_code == 200


@each_case("facts", [{"files": None, "folders": 5}, {"files": {"a": 1}}, {"folders": "x"}])
def test_an_answer_without_lists_is_explained_and_never_an_empty_folder(bob, foreign, facts):
    answers(foreign, **facts)
    answer = bob.client.get("/")
    assert answer.status_code == 502
    assert "can't read the storage service's response" in page(answer).main.get_text()
    assert not page(answer).select("#listing")


def test_a_service_that_repeats_our_secret_gives_nothing_away(bob, foreign, caplog):
    said = f"denied for {EMAIL} with {PASSWORD}"
    for status in (400, 403, 404, 409, 422, 500):
        foreign.fails("/rest/folder", status, said)
        answer = bob.client.get("/")
        assert PASSWORD.encode() not in answer.content
        assert EMAIL.encode() not in answer.content
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("size", [70, 100])
def test_an_answer_of_many_megabytes_is_refused(bob, foreign, size):
    class Endless(httpx.SyncByteStream):
        given = 0

        def __iter__(self):
            while self.given < size * 2**20:
                self.given += 2**20
                yield b" " * 2**20

    body = Endless()
    headers = {"content-length": str(size * 2**30)}
    foreign.says("/rest/folder", httpx.Response(200, stream=body, headers=headers))
    answer = bob.client.get("/")
    assert answer.status_code == 502
    assert body.given == 0


@pytest.mark.slow
@each_case("name", NAMES)
def test_service_messages_about_an_add_are_text(bob, foreign, name):

    def added(what):
        record = {"result": True, "user_torrent_id": 5, "title": what, "torrent_hash": "8" * 40}
        foreign.says("/rest/transfer/magnet", httpx.Response(200, json=record))
        line = f"magnet:?xt=urn:btih:{'8' * 40}"
        return bob.client.post("/transfers/send/", {"text": line}, follow=True)

    plain = counts(added("ok"))
    Sent.objects.all().delete()
    harmless(added(name), plain)


@each_case("bad", ["../account", "?x", "7/../8", "", {}, [], True])
def test_an_invalid_id_of_an_add_leads_nowhere(bob, foreign, bad):
    record = {"result": True, "user_torrent_id": bad, "torrent_hash": "8" * 40}
    for _time in range(2):
        foreign.says("/rest/transfer/magnet", httpx.Response(200, json=record))
        line = f"magnet:?xt=urn:btih:{'8' * 40}"
        answer = bob.client.post("/transfers/send/", {"text": line})
    assert answer.status_code == 200
    links = [tag["href"] for tag in page(answer).select(".result a")]
    assert links == [f"/transfers/s{Sent.objects.get().pk}/open/"]


HOSTILE = ["<img src=x onerror=alert(1)>", {}, [], True, -1, 1e400, "9" * 400, None, "NaN"]


@each_case("value", HOSTILE)
def test_no_word_or_number_of_a_transfer_breaks_the_page(bob, foreign, value):
    names = ["name", "size", "hash", "progress", "download_rate", "seeders", "connected_to"]
    names += ["state", "reason", "warnings", "stopped", "folder_created", "file_created", "details"]
    bad = [
        {"id": 100 + at, "name": "x", "progress": 5, name: value} for at, name in enumerate(names)
    ]
    answers(foreign, torrents=[*bad, {"id": value}, value, {"id": 7, "name": "good"}])
    shown = page(bob.client.get("/transfers/"))
    assert shown.select_one("#t7 bdi").get_text() == "good"
    assert len(shown.select(".transfer")) >= len(names)
    assert shown.select("main img, main script") == []


@pytest.mark.slow
@each_case("name", NAMES)
def test_the_name_and_plan_of_an_account_are_text(alice, foreign, name):

    def server_page(what):
        facts = {"username": what, "email": what, "package_name": what, "premium": 1, "tide": what}
        account = {"result": True, "account": facts | {"space_max": 10, "space_used": 5}}
        foreign.says("/rest/user", *[httpx.Response(200, json=account) for _time in range(9)])
        return alice.client.get("/account/server/", headers={"cache-control": "max-age=0"})

    plain = server_page("plain")
    assert "plain" in page(plain).select_one("main").get_text()
    harmless(server_page(name), counts(plain))


@pytest.mark.slow
@each_case("name", NAMES)
@each_case("wrap", [str, lambda one: [one], lambda one: json.dumps([one])])
def test_a_warning_is_text(bob, foreign, name, wrap):

    def transfers_page(what):
        row = {"id": 7, "name": "a", "progress": 5, "warnings": wrap(what)}
        answers(foreign, torrents=[row])
        return bob.client.get("/transfers/")

    transfers_page("plain")
    harmless(transfers_page(name), counts(transfers_page("plain")))
