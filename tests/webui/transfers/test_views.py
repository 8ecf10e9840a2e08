"""The Transfers screen, with services of both generations."""

import json
import random
import re
from datetime import UTC, datetime
from urllib.parse import quote

import httpx
import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.transfers.conftest import Clock
from webui import pruning
from webui.deleting.held_deletes import HELD, delete_due
from webui.models import HeldDelete, Sent
from webui.transfers import poll
from webui.transfers.transfer_cache import TransferCache
from webui.words.reasons import REASONS

pytestmark = pytest.mark.django_db

HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"
MAGNET = f"magnet:?xt=urn:btih:{HASH}&dn=Sintel&tr=udp%3A%2F%2Ftracker.example%3A6969"
RUNNING = {
    "state": "downloading",
    "progress": 42,
    "size": 1_000_000_000,
    "download_rate": 5_000_000,
    "connected_to": 9,
}
LIST = "/transfers/list/"


def at(clock: Clock, seconds: float) -> None:
    clock.now += seconds


def revision(answer: HttpResponse) -> str:
    return page(answer).select_one("#seen")["value"]


def placeholders(answer: HttpResponse) -> list[str]:
    """Return the keys of the rows that the page is to leave as they are."""
    return [row["id"] for row in page(answer).select("li[data-same]")]


def state(answer: HttpResponse, key: str) -> str:
    row = page(answer).select_one(f"#{key}")
    assert row, f"no {key} on the page"
    return row["data-state"]


def facts(answer: HttpResponse, key: str) -> str:
    return words(answer, f"#{key} .facts")


def record(storage, **given) -> Sent:
    known = {
        "transfer_id": "",
        "title": "Sintel",
        "source_kind": Sent.MAGNET,
        "source": MAGNET,
        "info_hash": HASH,
        "added_at": datetime(2026, 9, 1, 11, 55, tzinfo=UTC),
    }
    return Sent.record(storage.service.key, **{**known, **given})


@pytest.fixture(params=["ours", "foreign"])
def either(request, storage):
    """Our own service, and one of the older generation, which reports no state."""
    return storage if request.param == "ours" else request.getfixturevalue("foreign")


# The list


def test_transfer_states_are_described_in_words(alice, either):
    one = either.transfer("Cosmos", **RUNNING)
    shown = alice.client.get("/transfers/")
    assert facts(shown, f"t{one.id}") == "5 MB/s 420 MB of 1 GB 9 peers"
    assert words(shown, f"#t{one.id} .transfer-pct") == "42 %"
    assert words(shown, "#summary") == "1 running, 5 MB/s"
    assert words(shown, "title") == "42% · Transfers · Ferry"
    assert words(shown, "#running b") == "1"


def test_a_zip_file_is_unpacked_and_not_downloaded(alice, storage):
    known = {"source_kind": Sent.ZIP, "source": "7", "info_hash": ""}
    reading = storage.transfer("Reading", state="metadata")
    running = storage.transfer("Running", **RUNNING | {"peers_connected": 1})
    for each in (reading, running):
        record(storage, transfer_id=str(each.id), title="", **known)
    shown = alice.client.get("/transfers/")
    assert facts(shown, f"t{reading.id}") == "Fetching details reading the ZIP file"
    assert facts(shown, f"t{running.id}") == "5 MB/s 420 MB of 1 GB"


def test_nothing_at_all_shows_how_to_add(alice, storage):
    shown = page(alice.client.get("/transfers/"))
    assert shown.select_one("noscript a[href='/transfers/']").get_text() == "Refresh"
    assert shown.select_one("#how-to-add:not([hidden])")
    assert shown.select_one("#under-way[hidden]")
    assert words(alice.client.get("/transfers/"), "#summary") == "Nothing running"


def test_a_transfer_looking_for_peers_counts_as_running(alice, storage):
    for name in ("Cosmos", "Fjord"):
        storage.transfer(name, state="metadata")
    shown = alice.client.get("/transfers/")
    assert words(shown, "#summary") == "2 in progress"
    assert words(shown, "#under-way-count") == "2"


def test_a_listing_that_names_one_id_twice_shows_it_once(alice, storage):
    row = {"id": 5, "name": "Twice", "progress": 3}
    body = {"id": 1, "folders": [], "files": [], "torrents": [row, row]}
    storage.says("/rest/transfer", httpx.Response(200, json=body))
    assert len(page(alice.client.get("/transfers/")).select("#t5")) == 1


@each_case("progress", ["NaN", "42.5", 250, -3, None, {}, "<b>"])
def test_any_progress_makes_a_page(alice, foreign, progress):
    foreign.transfer("Odd", progress=progress)
    assert alice.client.get("/transfers/").status_code == 200


def test_names_are_shown_as_words_and_never_as_markup(alice, storage):
    one = storage.transfer("<img src=x onerror=alert(1)>\u202egpj.exe", state="queued")
    shown = page(alice.client.get("/transfers/"))
    assert shown.select("main img") == []
    assert (
        shown.select_one(f"#t{one.id} bdi").get_text()
        == "<img src=x onerror=alert(1)>\u202egpj.exe"
    )


WITH_A_CLAUSE = sorted(word for word, each in REASONS.items() if each.clause)


@pytest.mark.promise("each reason has a sentence")
@pytest.mark.slow
@each_case("reason", [*WITH_A_CLAUSE, "never_heard_of_it", None])
def test_each_reason_has_a_sentence(alice, storage, reason):
    one = storage.transfer("Failed", state="failed", reason=reason)
    said = facts(alice.client.get("/transfers/"), f"t{one.id}")
    assert said.startswith("Failed ")
    assert "_" not in said


def test_a_failure_also_quotes_the_service(alice, storage):
    said = json.dumps(["The server reported error 404.", "<b>"])
    one = storage.transfer("Failed", state="failed", reason="fetch_error", warnings=said)
    shown = facts(alice.client.get("/transfers/"), f"t{one.id}")
    assert "Ferry couldn't fetch the address" in shown
    assert "The server reported error 404." in shown


def test_a_failure_fully_explained_by_its_reason_is_stated_once(alice, storage):
    said = json.dumps(["Nothing is fetched from addresses like this one."])
    one = storage.transfer("Failed", state="failed", reason="address_refused", warnings=said)
    text = facts(alice.client.get("/transfers/"), f"t{one.id}")
    assert "Ferry isn't allowed to fetch this address" in text
    assert "Nothing is fetched" not in text


@each_case(
    ("reason", "said"),
    [
        ("no_peers", "No peers waiting for a peer"),
        ("not_available", "No progress no peer has the missing parts"),
        ("nothing_comes", "No progress its peers aren't sending anything"),
        ("retrying", "No progress its server failed; Ferry will try again"),
        ("disk_error", "No progress Ferry couldn't read from or write to the disk"),
    ],
)
def test_a_stalled_transfer_says_why(alice, storage, reason, said):
    one = storage.transfer("Stalled", state="stalled", reason=reason)
    assert facts(alice.client.get("/transfers/"), f"t{one.id}").startswith(said)


def test_a_transfer_whose_server_fails_says_when_ferry_retries(alice, storage, clock):
    """The page words the details, with the time on the reader's clock."""
    said = "The server sent less data than it announced. Ferry tried 4 times."
    details = {"kind": "content_cut_off", "tries": 4, "retry_at": "2026-01-05 12:30:00"}
    one = storage.transfer("Stalled", state="stalled", reason="retrying", details=details)
    text = facts(alice.client.get("/transfers/"), f"t{one.id}")
    assert f"{said} Ferry will try again at" in text
    assert "12:30." in text
    assert "UTC" not in text


@each_case(
    ("reason", "said"),
    [
        ("web_page", "a web page"),
        ("folder_gone", "no longer exists"),
        ("missing_files", "only the missing files"),
    ],
)
def test_finished_transfers_show_their_note(alice, storage, clock, reason, said):
    row = record(storage, folder_id="77")
    one = storage.transfer("Sintel", hash=HASH, **RUNNING)
    alice.client.get("/transfers/")
    at(clock, 3)
    storage.tells(one, state="done", progress=101, file_created=5, reason=reason)
    assert said in facts(alice.client.get("/transfers/"), f"t{one.id}")
    assert Sent.objects.get(pk=row.pk).reason == reason


@pytest.mark.parametrize("state", ["queued", "metadata", "downloading"])
@pytest.mark.parametrize(
    ("reason", "said"),
    [("missing_files", "only the missing files"), ("fetched_again", "fetched again")],
)
def test_a_repeated_fetch_says_so(alice, storage, state, reason, said):
    first = storage.transfer("First", **RUNNING | {"state": state})
    again = storage.transfer("Again", **RUNNING | {"state": state, "reason": reason})
    shown = alice.client.get("/transfers/")
    assert said in facts(shown, f"t{again.id}")
    assert said not in facts(shown, f"t{first.id}")


def test_a_file_whose_folder_was_deleted_opens_in_the_root(alice, storage, clock):
    record(storage, folder_id="77")
    one = storage.transfer("Sintel", hash=HASH, **RUNNING)
    alice.client.get("/transfers/")
    at(clock, 3)
    storage.tells(one, state="done", progress=101, file_created=5, reason="folder_gone")
    alice.client.get("/transfers/")
    assert alice.client.get(f"/transfers/t{one.id}/open/")["Location"] == "/#file-5"


def test_what_a_transfer_became_is_renamed_moved_and_deleted_in_files(alice, gwen, storage, clock):
    one = storage.transfer("Season", **RUNNING)
    alice.client.get("/transfers/")
    at(clock, 3)
    assert alice.client.get(f"/transfers/t{one.id}/open/?to=rename").status_code == 404
    folder = storage.folder("Season").id
    storage.tells(one, state="done", progress=101, folder_created=folder)
    shown = alice.client.get("/transfers/")
    assert "file" in page(shown).select_one(f"#t{one.id} .more")["data-acts"].split()
    assert page(gwen.client.get("/transfers/")).select_one(f"#t{one.id} .more")["data-acts"] == ""
    pages = {
        "rename": f"/files/0/folder-{folder}/rename/",
        "move": f"/files/0/move/?entry=folder-{folder}",
        "delete": f"/files/0/delete/?entry=folder-{folder}",
        "elsewhere": f"/files/{folder}/",
    }
    for to, expected in pages.items():
        answer = alice.client.get(f"/transfers/t{one.id}/open/?to={to}")
        assert answer["Location"] == expected


def add_and_end(alice, storage, clock, name, **became):
    """Return a transfer that ended after Alice had seen it run."""
    one = storage.transfer(name, **RUNNING)
    alice.client.get("/transfers/")
    at(clock, 3)
    storage.tells(one, state="done", progress=101, **became)
    alice.client.get("/transfers/")
    return one


@pytest.mark.parametrize("act", ["rename", "move", "delete"])
def test_a_folder_that_was_moved_is_changed_where_it_is(alice, storage, clock, act):
    folder, shows = storage.folder("Season"), storage.folder("Shows")
    one = add_and_end(alice, storage, clock, "Season", folder_created=folder.id)
    alice.client.get("/")
    storage.move(folder, shows)
    answer = alice.client.get(f"/transfers/t{one.id}/open/?to={act}", follow=True)
    assert answer.request["PATH_INFO"].startswith(f"/files/{shows.id}/")
    assert f"folder-{folder.id}" in answer.content.decode()


@pytest.mark.parametrize("act", ["rename", "move", "delete"])
def test_a_file_that_was_moved_is_missed_where_it_was(alice, storage, clock, act):
    file, films = storage.file("Sintel.mp4"), storage.folder("Films")
    one = add_and_end(alice, storage, clock, "Sintel.mp4", file_created=file.id)
    url = f"/transfers/t{one.id}/open/?to={act}"
    assert alice.client.get(url)["Location"].startswith("/files/0/")
    storage.move(file, films)
    answer = alice.client.get(url, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    assert "“Sintel.mp4” was moved or deleted." in words(answer, "#toasts")


def test_moving_tells_how_much_of_it_is_moved(alice, storage):
    one = storage.transfer("Moves", state="moving", progress=100.42, size=1000)
    shown = alice.client.get("/transfers/")
    assert "42% moved" in facts(shown, f"t{one.id}")
    assert words(shown, f"#t{one.id} .transfer-pct") == "100 %"


def test_a_lack_of_space_says_how_much_is_missing(alice, storage):
    one = storage.transfer("Big", state="no_room", reason="not_enough_space", size=3_000_000_000)
    assert "needs another 2 GB" in facts(alice.client.get("/transfers/"), f"t{one.id}")


@each_case(
    ("kind", "shown"),
    [
        ("queued", "Queued"),
        ("stopped", "Paused"),
        ("metadata", "Fetching details looking for peers"),
    ],
)
def test_each_state_has_a_word(alice, storage, kind, shown):
    one = storage.transfer("One", state=kind)
    assert facts(alice.client.get("/transfers/"), f"t{one.id}").startswith(shown)


def test_all_is_here_at_100_and_in_its_folder_at_101(alice, either, clock):
    row = record(either)
    one = either.transfer("Sintel", hash=HASH, **RUNNING)
    alice.client.get("/transfers/")
    either.tells(one, progress=100, state="moving" if either.service.is_embedded else None)
    at(clock, 3)
    shown = alice.client.get("/transfers/")
    assert facts(shown, f"t{one.id}").startswith("Moving to your files 1 GB downloaded in")
    folder = either.folder("Sintel")
    either.tells(one, progress=101, folder_created=folder.id, state=None)
    at(clock, 3)
    shown = alice.client.get(LIST)
    assert state(shown, f"t{one.id}") == "moved"
    opened = alice.client.get(f"/transfers/t{one.id}/open/")
    assert opened["Location"] == f"/files/{folder.id}/"
    row.refresh_from_db()
    assert (row.state, row.created_folder_id, row.transfer_id) == (
        "done",
        str(folder.id),
        str(one.id),
    )


def test_the_title_finds_the_result_if_the_service_reports_none(alice, foreign, clock):
    one = foreign.transfer("Sintel.mp4", hash=HASH, **RUNNING)
    record(foreign, transfer_id=str(one.id), title="Sintel.mp4")
    alice.client.get("/transfers/")
    file = foreign.file("Sintel.mp4")
    foreign.forgets(one)
    at(clock, 3)
    assert state(alice.client.get(LIST), f"t{one.id}") == "moved"
    opened = alice.client.get(f"/transfers/t{one.id}/open/")
    assert opened["Location"] == f"/#file-{file.id}"


def test_sent_transfers_survive_a_lost_cache(alice, storage, clock, tmp_path, monkeypatch):
    record(storage, state="done", done_at=datetime(2026, 9, 1, 11, tzinfo=UTC))
    fresh = TransferCache(tmp_path / "fresh.sqlite3", clock=clock)
    # For the reason that `clock` gives.
    monkeypatch.setattr(poll, "store", lambda: fresh)
    assert "Sintel" in words(alice.client.get("/transfers/"), "#done")


def test_a_transfer_unknown_to_the_service_is_gone(alice, either, clock):
    one = either.transfer("Sintel", **RUNNING)
    row = record(either, transfer_id=str(one.id))
    alice.client.get("/transfers/")
    either.forgets(one)
    at(clock, 61)
    shown = alice.client.get("/transfers/")
    assert facts(shown, f"t{one.id}").startswith("Missing")
    row.refresh_from_db()
    assert row.state == "gone"


def test_a_transfer_deleted_by_another_program_disappears(alice, either, clock):
    one = either.transfer("Theirs", **RUNNING)
    alice.client.get("/transfers/")
    either.forgets(one)
    at(clock, 3)
    assert page(alice.client.get("/transfers/")).select(f"#t{one.id}") == []


def test_a_transfer_shows_who_added_it_and_when(alice, bob, storage):
    one = storage.transfer("Sintel", **RUNNING)
    record(storage, transfer_id=str(one.id), added_by=bob.user)
    title = page(alice.client.get("/transfers/")).select_one(f"#t{one.id} h3")["title"]
    assert title.startswith("Added ")
    assert title.endswith(" by bob")


def test_one_service_response_covers_all_listed_transfers(alice, storage):
    for number in range(50):
        storage.transfer(f"Film {number}", state="queued")
    alice.client.get("/transfers/")
    calls = [("GET", f"/rest/{each}") for each in ("transfer", "limits", "traffic")]
    assert sorted(storage.calls) == sorted(calls)


def test_unlisted_transfers_are_requested_four_at_a_time(alice, foreign, clock):
    hidden = [foreign.transfer(f"Film {number}") for number in range(10)]
    foreign.fake.listing = lambda here: {"id": here.id, "folders": [], "files": []}
    for one in hidden:
        record(foreign, transfer_id=str(one.id), info_hash="", title=one.title)
    asked = []
    for _round in range(3):
        foreign.calls.clear()
        alice.client.get("/transfers/")
        asked.append([path for _method, path in foreign.calls if "/transfer/" in path])
        at(clock, 3)
    assert [len(some) for some in asked] == [4, 4, 4]
    assert len({path for some in asked for path in some}) == 10


# News


def test_an_unchanged_list_answers_204(alice, storage, clock):
    storage.transfer("Sintel", **RUNNING)
    seen = revision(alice.client.get("/transfers/"))
    for seconds in (0, 3, 30):
        at(clock, seconds)
        answer = alice.client.get(LIST, {"seen": seen})
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.cookies == {}


def test_an_unchanged_response_has_no_needless_headers(alice, storage):
    seen = revision(alice.client.get("/transfers/"))
    answer = alice.client.get(LIST, {"seen": seen})
    assert set(answer.headers) == {"Cache-Control", "X-Content-Type-Options", "Referrer-Policy"}


def test_only_rows_that_changed_are_sent(alice, storage, clock):
    still = storage.transfer("Still", state="queued")
    moves = storage.transfer("Moves", **RUNNING)
    seen = revision(alice.client.get("/transfers/"))
    storage.tells(moves, progress=43)
    at(clock, 3)
    news = page(alice.client.get(LIST, {"seen": seen}))
    assert [row["id"] for row in news.select(".transfer")] == [f"t{moves.id}"]
    assert news.select_one("#active").has_attr("data-same")
    assert f"t{still.id}" not in str(news)


def test_a_new_order_names_all_rows_and_carries_the_new_ones(alice, storage, clock):
    old = storage.transfer("Old", **RUNNING)
    seen = revision(alice.client.get("/transfers/"))
    new = storage.transfer("New", **RUNNING)
    at(clock, 3)
    answer = alice.client.get(LIST, {"seen": seen})
    news = page(answer)
    assert not news.select_one("#active").has_attr("data-same")
    assert [row["id"] for row in news.select("#active li")] == [f"t{old.id}", f"t{new.id}"]
    assert [row["id"] for row in news.select(".transfer")] == [f"t{new.id}"]
    assert placeholders(answer) == [f"t{old.id}"]


def test_an_arrival_is_announced_once(alice, storage, clock):
    one = storage.transfer("Sintel", **RUNNING)
    seen = revision(alice.client.get("/transfers/"))
    storage.tells(one, progress=101, state="done")
    at(clock, 3)
    news = alice.client.get(LIST, {"seen": seen})
    assert words(news, f"[data-done-key=t{one.id}]") == "Sintel is in your files"
    storage.transfer("Another", state="queued")
    at(clock, 16)
    assert "data-done-key" not in alice.client.get(LIST, {"seen": revision(news)}).content.decode()


@each_case("seen", ["", "x", "1.2", "a.b.c.d", "9.9.9.9", "٣.1.100.100", "." * 500])
def test_an_unknown_revision_gets_the_whole_list(alice, storage, seen):
    one = storage.transfer("Sintel", **RUNNING)
    answer = alice.client.get(LIST, {"seen": seen})
    assert page(answer).select("[data-same]") == []
    assert state(answer, f"t{one.id}") == "downloading"


@pytest.mark.slow
def test_the_list_is_sent_in_windows(alice, storage, clock):
    for number in range(250):
        storage.transfer(f"Film {number}", state="queued")
    shown = alice.client.get("/transfers/")
    assert len(page(shown).select(".transfer")) == 100
    more = page(shown).select_one("a[data-more]")["href"]
    assert more == "/transfers/?active=200"
    assert len(page(alice.client.get(more)).select(".transfer")) == 200
    news = page(alice.client.get(LIST, {"seen": revision(shown), "active": "200"}))
    assert len(news.select(".transfer")) == 100
    assert len(news.select("#active li")) == 200


def test_rows_that_moved_up_are_sent_with_the_order(alice, storage, clock):
    films = [storage.transfer(f"Film {number}", state="queued") for number in range(150)]
    shown = alice.client.get("/transfers/")
    before = [row["id"] for row in page(shown).select("#active li")]
    for one in films:
        if f"t{one.id}" in before[:3]:
            storage.forgets(one)
    at(clock, 3)
    news = page(alice.client.get(LIST, {"seen": revision(shown)}))
    after = [row["id"] for row in news.select("#active li")]
    assert (len(after), after[:97]) == (100, before[3:])
    assert [row["id"] for row in news.select(".transfer")] == after[97:]


def rows_of(answer: HttpResponse, had: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return the rows of each list, as a page that shows `had` does after it got this answer."""
    lists = {}
    for each in page(answer).select("#active, #failures, #done"):
        rows = dict(had.get(each["id"], {})) if each.has_attr("data-same") else {}
        shown = {key: row for rows in had.values() for key, row in rows.items()}
        for row in each.select("li"):
            rows[row["id"]] = shown[row["id"]] if row.has_attr("data-same") else str(row)
        lists[each["id"]] = rows
    return lists


@pytest.mark.promise("news and page agree")
@pytest.mark.slow
def test_a_page_that_gets_only_news_shows_what_a_new_page_shows(alice, storage, clock):
    """The windows are full, so that rows move up when others leave."""
    chance = random.Random(1)
    here = [storage.transfer(f"Film {number}", state="queued") for number in range(130)]
    here += [storage.transfer(f"Bad {number}", state="failed") for number in range(120)]
    shown = alice.client.get("/transfers/")
    had, seen = rows_of(shown, {}), revision(shown)
    for turn in range(6):
        at(clock, 3)
        for one in chance.sample(here, chance.randrange(12)):
            facts = [RUNNING, {"state": "failed"}, {"state": "done", "progress": 101}, None]
            fact = chance.choice(facts)
            if fact:
                storage.tells(one, **fact | {"size": chance.randrange(10**9)})
            else:
                storage.forgets(one)
                here.remove(one)
        here += [
            storage.transfer(f"New {turn}", state="queued") for _ in range(chance.randrange(3))
        ]
        news = alice.client.get(LIST, {"seen": seen})
        if news.status_code == 200:
            had, seen = rows_of(news, had), revision(news)
        now = rows_of(alice.client.get("/transfers/"), {})
        assert {name: list(rows.items()) for name, rows in had.items()} == {
            name: list(rows.items()) for name, rows in now.items()
        }


# How often the site polls the service


def test_many_readers_cost_the_service_no_more_than_one(alice, bob, storage, clock):
    storage.transfer("Sintel", **RUNNING)
    alice.client.get("/transfers/")
    storage.calls.clear()
    for _tick in range(5):
        at(clock, 2)
        for _tab in range(5):
            alice.client.get(LIST)
            bob.client.get(LIST)
    assert len(storage.calls) == 5


@each_case("url", [LIST, "/transfers/running/"])
def test_idle_foreign_services_are_polled_every_15_seconds(alice, foreign, clock, url):
    """Asking our own service costs only milliseconds, and other programs may have added items."""
    alice.client.get("/transfers/")
    at(clock, 15)
    assert page(alice.client.get(LIST)).select_one("#seen")["data-every"] == "4000"
    foreign.calls.clear()
    for _tick in range(6):
        at(clock, 5)
        alice.client.get(url)
    assert len(foreign.calls) == 2


# The number in the navigation


def running(person, seen: object = 0) -> str | None:
    """Return the new count for a page that shows `seen`, or None if that is still right."""
    answer = person.client.get("/transfers/running/", {"seen": seen})
    return None if answer.status_code == 204 else words(answer, "#running b")


def test_the_number_is_right_within_a_poll_of_what_other_programs_do(alice, gwen, storage, clock):
    """Pages poll every four seconds."""
    assert running(alice) is None
    one = storage.transfer("Sintel", **RUNNING)
    at(clock, 4)
    assert (running(alice), running(gwen)) == ("1", "1")
    assert running(alice, 1) is None
    storage.tells(one, state="failed")
    at(clock, 4)
    assert running(alice, 1) == "0"
    assert page(alice.client.get("/transfers/running/", {"seen": 1})).select("#running[hidden]")


def test_the_number_is_right_at_once_of_what_we_did(alice, either, clock):
    one = either.transfer("Sintel", **RUNNING)
    assert running(alice) == "1"
    alice.client.post(f"/transfers/t{one.id}/remove/")
    assert running(alice, 1) == "0"


def test_many_pages_cost_the_service_no_more_than_one(alice, gwen, foreign, clock):
    foreign.transfer("Sintel", **RUNNING)
    alice.client.get("/transfers/")
    foreign.calls.clear()
    for _tick in range(5):
        at(clock, 4)
        for _tab in range(3):
            running(alice)
            running(gwen)
            alice.client.get(LIST)
    assert len(foreign.calls) == 5


def test_a_page_that_is_right_costs_three_queries_and_no_call(alice, storage, clock):
    """It writes nothing that the disk has to sync, even if the device was last seen long ago."""
    storage.transfer("Sintel", **RUNNING)
    assert running(alice) == "1"
    storage.calls.clear()
    with CaptureQueriesContext(connection) as asked:
        assert running(alice, 1) is None
    assert len(asked) <= 3
    assert storage.calls == []
    at(clock, 4)
    with CaptureQueriesContext(connection) as looked:
        assert running(alice, 1) is None
    assert [each["sql"] for each in looked if not each["sql"].startswith("SELECT")] == []
    assert storage.calls == [("GET", "/rest/transfer")]


def test_the_last_known_number_stays_while_the_service_is_unreachable(alice, either, clock):
    either.transfer("Sintel", **RUNNING)
    assert running(alice) == "1"
    either.fails("/rest/folder", 503)
    either.fails("/rest/transfer", 503)
    at(clock, 70)
    assert running(alice, 1) is None
    assert words(alice.client.get("/account/pair/code/"), "#running b") == "1"


def test_not_every_page_tries_a_service_that_was_never_reached(alice, foreign, clock):
    foreign.fails("/rest/folder", 503)
    assert running(alice) is None
    foreign.calls.clear()
    assert running(alice) is None
    assert foreign.calls == []


def test_other_pages_do_not_request_transfers(alice, foreign):
    foreign.transfer("Sintel", **RUNNING)
    alice.client.get("/transfers/")
    foreign.calls.clear()
    shown = alice.client.get("/account/server/")
    assert words(shown, "#running b") == "1"
    assert foreign.calls == [("GET", "/rest/user")]


def test_cached_data_and_its_age_show_while_the_service_is_unreachable(alice, either, clock):
    one = either.transfer("Sintel", **RUNNING)
    seen = revision(alice.client.get("/transfers/"))
    either.fails("/rest/folder", 503)
    either.fails("/rest/transfer", 503)
    at(clock, 3)
    news = alice.client.get(LIST, {"seen": seen})
    assert "12:00" in words(news, ".banner.amber")
    shown = alice.client.get("/transfers/")
    assert state(shown, f"t{one.id}") == "downloading"
    assert page(shown).select(f"#t{one.id} [data-remove]") == []
    # What runs at a server that doesn't respond is unknown.
    assert "continue" not in words(shown, "#away") + words(shown, "#unreachable")
    either.is_back()
    at(clock, 60)
    assert page(alice.client.get("/transfers/")).select("#away .banner") == []


@pytest.mark.promise("an unreachable service is tried less often")
@pytest.mark.slow
def test_an_unreachable_service_is_tried_less_and_less_often(alice, foreign, clock):
    foreign.transfer("Sintel", **RUNNING)
    alice.client.get("/transfers/")
    foreign.fails("/rest/folder", 503)
    foreign.calls.clear()
    for _second in range(120):
        at(clock, 1)
        alice.client.get(LIST)
    assert 3 <= len(foreign.calls) <= 7


def test_a_wrong_password_for_the_service_is_reported_as_such(alice, foreign, clock):
    foreign.transfer("Sintel", **RUNNING)
    alice.client.get("/transfers/")
    foreign.fails("/rest/folder", 401)
    at(clock, 3)
    assert "sign-in" in words(alice.client.get("/transfers/"), "#away strong")


def test_a_service_that_never_answered_is_an_error_page(alice, foreign):
    foreign.fails("/rest/folder", 503)
    assert alice.client.get("/transfers/").status_code == 503


# Actions


def test_canceling_asks_for_confirmation(bob, storage):
    one = storage.transfer("Sintel", **RUNNING)
    shown = page(bob.client.get("/transfers/"))
    asked = bob.client.get(shown.select_one(f"#t{one.id} a[data-remove]")["href"])
    assert words(asked, "h1") == "Cancel this transfer?"
    assert "This transfer is 42% done. Ferry will delete the 420 MB downloaded so far" in words(
        asked, "#remove-text"
    )
    assert one.id in storage.fake.transfers
    bob.client.post(f"/transfers/t{one.id}/remove/")
    assert one.id in storage.fake.transfers
    delete_due(timezone.now() + HELD)
    assert one.id not in storage.fake.transfers
    assert page(bob.client.get("/transfers/")).select(f"#t{one.id}") == []


DUNE = f"magnet:?xt=urn:btih:{'d' * 40}&dn=Dune"


def shown(person):
    return {each["id"] for each in page(person.client.get("/transfers/")).select(".transfer[id]")}


@each_case("headers", [{"hx-request": "true"}, {}])
def test_undoing_a_cancel_continues_the_transfer(bob, storage, headers):
    one, other = (storage.transfer(name, **RUNNING) for name in ("Sintel", "Tears"))
    assert shown(bob) == {f"t{one.id}", f"t{other.id}"}
    answer = bob.client.post(f"/transfers/t{one.id}/remove/", headers=headers)
    storage.tells(other, progress=50)
    assert shown(bob) == {f"t{other.id}"}
    if headers:
        undo = json.loads(answer["HX-Trigger"])["transfers-changed"]["undo"]
    else:
        banner = bob.client.get(answer["Location"])
        assert "Transfer canceled" in words(banner, ".banner")
        undo = page(banner).select_one(".banner")["action"]
    said = bob.client.post(undo, follow=True)
    assert "Transfer restored" in words(said, "#toasts")
    assert shown(bob) == {f"t{one.id}", f"t{other.id}"}
    delete_due(timezone.now() + HELD)
    assert one.id in storage.fake.transfers
    assert "nothing left to undo" in words(bob.client.post(undo, follow=True), "#toasts")


def test_a_canceled_transfer_frees_its_slot_while_its_undo_is_offered(bob, storage):
    one = storage.transfer("Sintel", **RUNNING)
    bob.client.get("/transfers/")
    answer = bob.client.post(f"/transfers/t{one.id}/remove/", headers={"hx-request": "true"})
    assert storage.fake.transfers[one.id].facts["state"] == "stopped"
    undo = json.loads(answer["HX-Trigger"])["transfers-changed"]["undo"]
    bob.client.post(undo, headers={"hx-request": "true"})
    assert storage.fake.transfers[one.id].facts["state"] == "queued"


def test_a_transfer_that_cannot_be_paused_is_canceled_all_the_same(bob, storage):
    one = storage.transfer("Sintel", **RUNNING)
    bob.client.get("/transfers/")
    storage.fails("/rest/transfers/change", 500)
    bob.client.post(f"/transfers/t{one.id}/remove/")
    delete_due(timezone.now() + HELD)
    assert one.id not in storage.fake.transfers


def test_a_transfer_that_was_added_here_keeps_its_facts(bob, foreign):
    bob.client.post("/transfers/send/", {"text": DUNE})
    (key,) = shown(bob)
    answer = bob.client.post(f"/transfers/{key}/remove/")
    assert shown(bob) == set()
    undo = page(bob.client.get(answer["Location"])).select_one(".banner")["action"]
    bob.client.post(undo)
    assert shown(bob) == {key}
    assert "Dune" in words(bob.client.get("/transfers/"), "#groups")


def test_a_transfer_added_again_is_not_canceled_later(bob, storage):
    bob.client.post("/transfers/send/", {"text": DUNE})
    (key,) = shown(bob)
    bob.client.post(f"/transfers/{key}/remove/")
    bob.client.post("/transfers/send/", {"text": DUNE})
    (again,) = shown(bob)
    delete_due(timezone.now() + HELD)
    assert shown(bob) == {again}


def test_an_action_on_a_stale_page_says_what_to_check(bob, storage):
    one = storage.transfer("Sintel", **RUNNING)
    bob.client.get("/transfers/")
    answer = bob.client.post(f"/transfers/t{one.id}/remove/", headers={"hx-request": "true"})
    assert answer.status_code == 204
    assert "transfers-changed" in answer["HX-Trigger"]


def test_removing_a_finished_transfer_keeps_its_files(bob, storage, clock):
    folder = storage.folder("Sintel")
    row = record(storage, state="done", created_folder_id=str(folder.id))
    bob.client.get("/transfers/")
    bob.client.post(f"/transfers/s{row.pk}/remove/")
    assert folder.id in storage.fake.items
    at(clock, 20)
    assert page(bob.client.get("/transfers/")).select(".transfer") == []


def test_retrying_sends_the_saved_item(bob, storage, clock):
    failed = storage.transfer("Sintel", state="failed", hash=HASH)
    row = record(storage, transfer_id=str(failed.id), state="failed")
    shown = bob.client.get("/transfers/")
    assert page(shown).select(f"#t{failed.id} [formaction$='retry/']")
    bob.client.post(f"/transfers/t{failed.id}/retry/")
    row.refresh_from_db()
    assert row.transfer_id != str(failed.id)
    assert list(storage.fake.transfers) == [int(row.transfer_id)]
    assert state(bob.client.get("/transfers/"), f"t{row.transfer_id}") == "queued"


def test_a_removed_transfer_is_canceled_before_the_same_one_is_retried(bob, storage):
    """The service may take the two for one, and would cancel it once the undo expires."""
    removed = storage.transfer("Sintel", state="downloading", hash=HASH)
    row = record(storage, state="gone", transfer_id="77", info_hash="b" * 40)
    bob.client.get("/transfers/")
    bob.client.post(f"/transfers/t{removed.id}/remove/")
    assert HeldDelete.objects.exists()
    bob.client.post("/transfers/t77/retry/")
    assert not HeldDelete.objects.exists()
    row.refresh_from_db()
    assert list(storage.fake.transfers) == [int(row.transfer_id)]


def test_a_torrent_is_sent_again_unchanged(bob, storage):
    torrent = b"d4:infod4:name6:Sintel12:piece lengthi1e6:pieces0:ee"
    row = record(storage, state="gone", source_kind=Sent.FILE, source="", torrent=torrent)
    bob.client.get("/transfers/")
    bob.client.post(f"/transfers/s{row.pk}/retry/")
    assert ("POST", "/rest/transfer/file") in storage.calls


def test_a_failed_retry_leaves_it_to_be_tried_again(bob, storage):
    row = record(storage, state="gone", transfer_id="77")
    bob.client.get("/transfers/")
    storage.fails("/rest/transfer/magnet", 422, "parsing_error")
    assert bob.client.post("/transfers/t77/retry/").status_code == 422
    row.refresh_from_db()
    assert (row.transfer_id, row.state) == ("77", "gone")


def shown_by_group(answer: HttpResponse) -> dict[str, list[str]]:
    groups = {"active": "#active", "failed": "#failures", "done": "#done"}
    return {
        name: [row["id"] for row in page(answer).select(f"{group} .transfer")]
        for name, group in groups.items()
    }


def test_failed_transfers_are_above_finished_ones_and_never_cleared(bob, storage, clock):
    failed = storage.transfer("Failed", state="failed")
    running = storage.transfer("Runs", **RUNNING)
    done = record(storage, state="done")
    gone = record(storage, transfer_id="99", info_hash="", state="gone")
    groups = {"active": [f"t{running.id}"], "failed": [f"t{failed.id}", f"t{gone.transfer_id}"]}
    shown = bob.client.get("/transfers/")
    assert shown_by_group(shown) == {**groups, "done": [f"s{done.pk}"]}
    headings = [words.get_text() for words in page(shown).select("#transfers h2")][:3]
    assert headings == ["In progress", "Failed", "Done"]
    bob.client.post("/transfers/clear/")
    at(clock, 20)
    assert shown_by_group(bob.client.get("/transfers/")) == {**groups, "done": []}
    assert failed.id in storage.fake.transfers


def test_clearing_is_undone(bob, storage, clock):
    """This also works for transfers of another program, for which the site keeps no row."""
    theirs = storage.transfer("Theirs", **RUNNING)
    ours = record(storage, state="done")
    bob.client.get("/transfers/")
    storage.tells(theirs, state="done", progress=101)
    at(clock, 3)
    seen = revision(bob.client.get("/transfers/"))
    storage.forgets(theirs)
    both = [f"t{theirs.id}", f"s{ours.pk}"]
    cleared = bob.client.post("/transfers/clear/", headers={"hx-request": "true"})
    undo = json.loads(cleared["HX-Trigger"])["transfers-changed"]["undo"]
    at(clock, 3)
    news = bob.client.get(LIST, {"seen": seen})
    done = page(news).select_one("#done:not([data-same])")
    assert done.select("li") == []
    bob.client.post(undo, headers={"hx-request": "true"})
    at(clock, 3)
    back = bob.client.get(LIST, {"seen": revision(news)})
    assert sorted(shown_by_group(back)["done"]) == sorted(both)
    at(clock, 20)
    assert sorted(shown_by_group(bob.client.get("/transfers/"))["done"]) == sorted(both)
    bob.client.post("/transfers/clear/")
    assert shown_by_group(bob.client.get("/transfers/"))["done"] == []
    bob.client.post(undo)
    assert shown_by_group(bob.client.get("/transfers/"))["done"] == []


def test_without_scripts_the_page_after_clearing_offers_to_undo_it(bob, storage):
    ours = record(storage, state="done")
    cleared = bob.client.post("/transfers/clear/", follow=True)
    assert "List cleared" in words(cleared, "main .banner")
    form = page(cleared).select_one("main form.banner")
    back = bob.client.post(form["action"], follow=True)
    assert "List restored" in words(back, "#toasts")
    assert shown_by_group(back)["done"] == [f"s{ours.pk}"]


# In UTC, these are outside the range of datetime.
FAR = ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"]


@each_case(
    "moment", ["", "x", "2026-09-01", "2026-09-01T12:00:00", "9999-99-99T00:00:00+00:00", *FAR]
)
def test_an_invalid_moment_restores_nothing(bob, storage, moment):
    assert bob.client.get("/transfers/", {"cleared": moment}).status_code == 200
    assert bob.client.post(f"/transfers/restore/?cleared={quote(moment)}").status_code == 404


def test_the_link_is_what_was_sent(bob, storage):
    one = storage.transfer("Sintel", hash=HASH, **RUNNING)
    theirs = storage.transfer("Theirs & ours", hash="a" * 40, **RUNNING)
    record(storage, transfer_id=str(one.id))
    bob.client.get("/transfers/")
    assert bob.client.get(f"/transfers/t{one.id}/link/").content.decode() == MAGNET
    link = bob.client.get(f"/transfers/t{theirs.id}/link/").content.decode()
    assert link == f"magnet:?xt=urn:btih:{'a' * 40}&dn=Theirs%20%26%20ours"


def test_a_guest_looks_and_touches_nothing(gwen, storage):
    one = storage.transfer("Sintel", hash=HASH, **RUNNING)
    shown = page(gwen.client.get("/transfers/"))
    assert shown.select_one(f"#t{one.id}")
    assert shown.select("[data-remove], [data-post], [data-copy]") == []


@each_case("act", ["open", "link", "remove"])
def test_an_unknown_transfer_is_not_found(bob, storage, act):
    bob.client.get("/transfers/")
    assert bob.client.get(f"/transfers/t99/{act}/").status_code == 404


def test_a_poll_after_the_session_expired_leads_to_the_sign_in_and_back(client, storage):
    answer = client.get(
        LIST,
        headers={"hx-request": "true", "hx-current-url": "http://localhost/transfers/?done=200"},
    )
    assert answer["HX-Redirect"] == "/signin/?next=/transfers/%3Fdone%3D200"


# Stored rows


def test_the_same_transfer_is_recorded_once(db, storage):
    first = record(storage, transfer_id="5")
    assert record(storage, transfer_id="5") == first
    assert record(storage, transfer_id="", info_hash=HASH) == first
    assert record(storage, transfer_id="6") != first
    assert Sent.objects.count() == 2


def test_a_cleared_transfer_that_is_sent_again_returns(db, storage):
    row = record(storage, transfer_id="5")
    Sent.objects.update(cleared_at=row.added_at)
    assert record(storage, transfer_id="5").cleared_at is None


def test_transfers_cleared_long_ago_are_forgotten(db, storage):
    record(storage, cleared_at=datetime(2026, 1, 1, tzinfo=UTC))
    kept = record(storage, transfer_id="6", info_hash="")
    pruning.prune(datetime(2026, 9, 1, tzinfo=UTC))
    assert list(Sent.objects.all()) == [kept]


def test_secrets_in_an_address_are_never_shown(alice, storage):
    url = "https://user:secret@downloads.example.org/a.iso?token=secret"
    one = storage.transfer("a.iso", **RUNNING)
    record(storage, transfer_id=str(one.id), source_kind=Sent.URL, source=url)
    shown = alice.client.get("/transfers/")
    assert "direct from downloads.example.org" in facts(shown, f"t{one.id}")
    assert not re.search("secret", shown.content.decode())


@each_case("broken", [{"torrents": None}, {"torrents": {}}, {"files": None}, {"result": False}])
def test_transfers_stay_while_the_service_sends_no_list_of_them(alice, foreign, clock, broken):
    foreign.renew()
    one = foreign.transfer("Sintel", hash=HASH, progress=40)
    alice.client.get("/transfers/")
    listing = {"folders": [], "files": [], "torrents": []} | broken
    foreign.says("/rest/folder", *[httpx.Response(200, json=listing) for _time in range(9)])
    at(clock, 30)
    answer = alice.client.get("/transfers/")
    assert "Sintel" in words(answer, f"#t{one.id}")
    assert "can't read the storage service's response" in page(answer).get_text()
