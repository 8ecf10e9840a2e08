"""Filters and sort orders of the list, on the page and in the requests of a page left open."""

import random
from datetime import UTC, datetime

import pytest

from tests.cases import each_case
from tests.people import page, words
from tests.webui.transfers.test_views import LIST, RUNNING, at, record, revision, rows_of
from webui.models import Sent
from webui.transfers.list_options import options_of, parse

pytestmark = pytest.mark.django_db

GB = 1_000_000_000
FILMS = {
    "Alps": {"state": "downloading", "progress": 40, "size": 3 * GB, "download_rate": 10},
    "Bays": {"state": "queued", "progress": 0, "size": 9 * GB},
    "Cliffs": {"state": "stopped", "progress": 70, "size": 1 * GB},
    "Dunes": {"state": "failed", "progress": 5, "size": 2 * GB},
    "Elms": {"state": "stalled", "progress": 20, "size": 5 * GB},
    "Fjord": {"state": "downloading", "progress": 60, "size": 4 * GB, "download_rate": 90},
}


@pytest.fixture
def films(storage, alice, bob):
    """Two of the films were added by people, into two folders; other programs added the rest."""
    added = {name: storage.transfer(name, **facts) for name, facts in FILMS.items()}
    folder = storage.folder("Summer")
    for minute, (name, person, place) in enumerate(
        [("Alps", alice, str(folder.id)), ("Cliffs", bob, "")]
    ):
        record(
            storage,
            transfer_id=str(added[name].id),
            info_hash="",
            title=name,
            added_by=person.user,
            folder_id=place,
            added_at=datetime(2026, 8, 1, 12, minute, tzinfo=UTC),
        )
    alice.client.get(f"/files/{folder.id}/")
    return {**added, "Summer": folder}


def names(answer) -> str:
    """Return the initials of the shown transfers, in order."""
    return "".join(each.get_text()[0] for each in page(answer).select(".transfer-name bdi"))


@each_case(
    ("query", "shown"),
    [
        ("", "AFEBCD"),
        ("state=running", "AF"),
        ("state=stalled", "E"),
        ("state=waiting", "B"),
        ("state=paused", "C"),
        ("state=failed", "D"),
        ("state=done", ""),
        ("state=nonsense", "AFEBCD"),
        ("q=ALP", "A"),
        ("q=s+l", "AEC"),
        ("q=+", "AFEBCD"),
        ("by=alice", "A"),
        ("by=bob", "C"),
        ("by=*", "FEBD"),
        ("by=no+one", ""),
        ("folder={Summer}", "A"),
        ("folder=0", "C"),
        ("sort=-size", "BEFACD"),
        ("sort=size", "CAFEBD"),
        ("sort=-progress", "CFAEBD"),
        ("sort=progress", "BEAFCD"),
        ("sort=-speed", "FAEBCD"),
        ("sort=time", "ACFEBD"),
        ("sort=-time", "FEBCAD"),
        ("sort=nonsense", "AFEBCD"),
        ("sort=size&state=running", "AF"),
        ("sort=-size&q=s&by=*", "BED"),
    ],
)
def test_the_list_is_filtered_and_sorted(alice, films, query, shown):
    query = query.format(Summer=films["Summer"].id)
    answer = alice.client.get(f"/transfers/?{query}")
    assert names(answer) == shown
    assert words(answer, "#summary").startswith("2 running")


def test_a_filter_says_how_many_match_and_leads_back(alice, films):
    whole = page(alice.client.get("/transfers/"))
    assert whole.select_one("#matches[hidden]")
    some = alice.client.get("/transfers/?q=s")
    assert words(some, "#matches") == "5 of 6 Show all"
    assert page(some).select_one("#matches a")["href"] == "/transfers/"
    none = alice.client.get("/transfers/?q=nothing")
    assert words(none, "#matches").startswith("No transfers match.")
    assert page(none).select_one("#how-to-add[hidden]")


def test_few_transfers_need_no_fields_to_filter(alice, storage, films, clock):
    assert page(alice.client.get("/transfers/")).select("#filter .input") == []
    for number in range(4):
        storage.transfer(f"Grove {number}", state="queued")
    at(clock, 3)
    assert page(alice.client.get("/transfers/")).select("#filter #q")


def test_the_fields_show_what_was_chosen(alice, films):
    shown = page(alice.client.get("/transfers/?q=s&state=paused&sort=-size&by=bob"))
    chosen = {
        each.find_parent("select")["name"]: each["value"]
        for each in shown.select("#filter option[selected]")
    }
    assert chosen == {"state": "paused", "folder": "", "by": "bob", "sort": "-size"}
    assert shown.select_one("#q")["value"] == "s"
    people = [each["value"] for each in shown.select("select[name=by] option")]
    assert people == ["", "*", "alice", "bob"]
    places = [each.get_text() for each in shown.select("select[name=folder] option")]
    assert places == ["All folders", "All files", "Summer"]


def test_one_person_and_one_folder_are_no_choice(alice, storage):
    for number in range(10):
        storage.transfer(f"Grove {number}", state="queued")
    shown = page(alice.client.get("/transfers/"))
    assert [each["name"] for each in shown.select("#filter select")] == ["state", "sort"]


def test_fields_appear_on_an_open_page_once_there_are_enough(alice, storage, films, clock):
    seen = revision(alice.client.get("/transfers/"))
    at(clock, 3)
    storage.transfer("Grove 1", state="queued")
    news = alice.client.get(LIST, {"seen": seen})
    assert page(news).select("#filter") == []
    for number in range(2, 5):
        storage.transfer(f"Grove {number}", state="queued")
    at(clock, 3)
    news = alice.client.get(LIST, {"seen": revision(news)})
    assert page(news).select("#filter #q")
    storage.transfer("Grove 5", state="queued")
    at(clock, 3)
    assert page(alice.client.get(LIST, {"seen": revision(news)})).select("#filter") == []


@each_case("view", ["state=paused", "sort=-speed", "q=s&sort=-size"])
def test_an_unchanged_choice_answers_204(alice, storage, films, clock, view):
    for name in ("Alps", "Fjord", "Elms"):
        storage.tells(films[name], state="stopped")
    seen = revision(alice.client.get(f"/transfers/?{view}"))
    for seconds in (0, 3, 30):
        at(clock, seconds)
        answer = alice.client.get(LIST, {"seen": seen, "view": view})
        assert (answer.status_code, answer.content) == (204, b"")


def test_another_choice_gets_the_whole_of_it(alice, films):
    seen = revision(alice.client.get("/transfers/"))
    for view, shown in {"state=running": "AF", "q=alp": "A", "": "AFEBCD"}.items():
        answer = alice.client.get(LIST, {"seen": seen, "view": view})
        assert names(answer) == shown, view
        assert page(answer).select("[data-same]") == [], view
        seen = revision(answer)


def test_only_rows_that_changed_are_sent_of_a_choice(alice, storage, films, clock):
    view = "sort=-size"
    seen = revision(alice.client.get(f"/transfers/?{view}"))
    storage.tells(films["Fjord"], progress=61)
    at(clock, 3)
    news = alice.client.get(LIST, {"seen": seen, "view": view})
    assert names(news) == "F"
    assert page(news).select_one("#active").has_attr("data-same")
    assert page(news).select("#filter") == []
    storage.tells(films["Fjord"], size=8 * GB)
    at(clock, 3)
    news = alice.client.get(LIST, {"seen": revision(news), "view": view})
    assert names(news) == "F"
    assert not page(news).select_one("#active").has_attr("data-same")


VIEWS = ["", "state=waiting", "sort=-speed", "q=film&sort=-progress", "state=failed&sort=size"]


@pytest.mark.promise("news and page agree under a filter", cases=["q=film&sort=-progress"])
@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view or "all")
def test_a_page_with_a_filter_that_gets_only_news_shows_what_a_new_page_shows(
    alice, storage, clock, view
):
    """The windows are full, and the service changes its order, so that rows move everywhere."""
    chance = random.Random(view)
    storage.fake.transfers.clear()
    here = [storage.transfer(f"Film {number}", state="queued") for number in range(130)]
    here += [storage.transfer(f"Bad film {number}", state="failed") for number in range(120)]
    at(clock, 3)
    shown = alice.client.get(f"/transfers/?{view}")
    had, seen = rows_of(shown, {}), revision(shown)
    for turn in range(6):
        at(clock, 3)
        for one in chance.sample(here, chance.randrange(12)):
            facts = [RUNNING, {"state": "failed"}, {"state": "queued"}, {"state": "stopped"}]
            speed = {"size": chance.randrange(10**9), "download_rate": chance.randrange(10**6)}
            storage.tells(one, **chance.choice(facts) | speed | {"progress": chance.randrange(99)})
        keys = list(storage.fake.transfers)
        for key in chance.sample(keys, 3):
            keys.insert(chance.randrange(len(keys)), keys.pop(keys.index(key)))
        storage.fake.transfers = {key: storage.fake.transfers[key] for key in keys}
        here += [
            storage.transfer(f"New film {turn}", state="queued") for _ in range(chance.randrange(3))
        ]
        news = alice.client.get(LIST, {"seen": seen, "view": view})
        if news.status_code == 200:
            had, seen = rows_of(news, had), revision(news)
        now = rows_of(alice.client.get(f"/transfers/?{view}"), {})
        assert {name: list(rows.items()) for name, rows in had.items()} == {
            name: list(rows.items()) for name, rows in now.items()
        }, turn


def test_the_next_rows_of_a_choice_keep_it(alice, storage, clock):
    for number in range(250):
        storage.transfer(f"Film {number}", state="queued")
    more = page(alice.client.get("/transfers/?q=film")).select_one("a[data-more]")["href"]
    assert more == "/transfers/?q=film&active=200"
    assert len(page(alice.client.get(more)).select(".transfer")) == 200


def test_a_filter_never_clears_the_whole_list(alice, storage, clock):
    record(storage, state="done", done_at=datetime(2026, 9, 1, 11, tzinfo=UTC))
    assert page(alice.client.get("/transfers/")).select("#clear")
    narrow = page(alice.client.get("/transfers/?state=done"))
    assert narrow.select("#done .transfer")
    assert narrow.select("#clear") == []


@each_case(
    "tail",
    ["", "q=a+b", "state=done&sort=-size", "q=%26&folder=7&by=%2A&sort=time", "folder=a%2Fb"],
)
def test_a_choice_is_read_as_it_was_written(tail):
    assert parse(tail).tail == tail


def test_what_no_one_can_choose_is_left_out():
    odd = options_of({"state": "x", "sort": "--size", "q": " " * 500 + "a", "folder": "7" * 500})
    assert (odd.state, odd.sort, odd.q) == ("", "", "")
    assert len(odd.folder) == 150
    assert Sent.objects.count() == 0
