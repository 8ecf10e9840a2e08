"""One transfer in detail: who may see what, hostile text, and the history in words."""

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.cases import each_case
from tests.people import page, words
from webui.transfers.pages.details import details_page, pieces_picture
from webui.transfers.pages.traffic import steps_path
from webui.transfers.pages.words import RowContext
from webui.transfers.states import CachedTransfer
from webui.v1.own_records import LogLine, Pieces, TransferFacts
from webui.words.formatting import Calendar

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
EVIL = "<script>alert(1)</script>"
NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
CONTEXT = RowContext(Calendar(NOON, ZoneInfo("Europe/Berlin")), is_own=True)
SWARM = {
    "peer_count": 31,
    "peers": [
        {"address": "192.0.2.7", "client": EVIL, "connection": "utp", "progress": 45.9}
        | {"download_rate": 1_200_000, "upload_rate": 0}
    ],
    "trackers": [
        {"host": "a.example", "state": "working", "next_at": "2026-09-01 12:30:00"},
        {"host": "b.example:81", "state": "failed"}
        | {"details": {"kind": "tracker_says", "message": EVIL}},
    ],
    "pieces": {"count": 400, "arrived": [100, 50, 0, 0], "copies": [2, 2, 1, 0]},
    "availability": 1.25,
}
AT_NOON = int(NOON.timestamp())
LOG = [
    {"kind": "stalled", "at": AT_NOON, "reason": "no_peers"},
    {"kind": "downloading", "at": AT_NOON + 180},
    {"kind": "tracker_refused", "at": AT_NOON + 200, "tracker": "b.example:81"}
    | {"details": {"kind": "tracker_says", "message": EVIL}},
]


@pytest.fixture
def film(alice, storage):
    return add(alice, storage, uploaded=600_000, has_swarm=True, swarm=SWARM, log=LOG)


def add(person, storage, *, state="downloading", **in_detail):
    one = storage.transfer("Film", state=state, progress=30, size=1_200_000)
    one.facts["in_detail"] = in_detail
    person.client.get("/transfers/")
    return one


def show(person, one, query="", **headers):
    return person.client.get(f"/transfers/t{one.id}/details/{query}", headers=headers)


def facts(answer):
    labels, values = (page(answer).select(f".facts-list {tag}") for tag in ("dt", "dd"))
    return {label.get_text(): value.get_text() for label, value in zip(labels, values, strict=True)}


def rows(answer, heading):
    sections = page(answer).select(".details-facts > section")
    [section] = [each for each in sections if heading in each.h3.get_text()]
    return [" ".join(row.get_text(" ").split()) for row in section.select("li")]


# The page


def test_the_page_says_what_there_is(alice, film):
    shown = show(alice, film)
    assert facts(shown)["Uploaded"] == "600 KB"
    assert facts(shown)["Ratio"] == "0.5"
    assert facts(shown)["Copies within reach"] == "1.25"
    assert "37% of 400 pieces have arrived." in words(shown, ".details")
    assert "No connected peer has some of the missing pieces." in words(shown, ".details")
    assert rows(shown, "Trackers")[1] == f"b.example:81 The tracker says: {EVIL} Failed"
    assert rows(shown, "Trackers")[0].startswith("a.example Next request at ")
    assert "and 11 more" in words(shown, ".details")


def test_hostile_text_is_text(alice, film):
    shown = show(alice, film)
    assert EVIL.encode() not in shown.content
    assert rows(shown, "History")[0].endswith(
        f"The tracker b.example:81 refused. The tracker says: {EVIL}"
    )
    names = [each.name for each in page(shown).select(".rows li > span > :first-child")]
    assert set(names) == {"bdi"}


def test_only_owners_see_addresses(alice, bob, gwen, film):
    rest = "has 45% · over uTP sends 1.2 MB/s"
    assert rows(show(alice, film), "Peers") == [f"{EVIL} 192.0.2.7 · {rest}"]
    for person in (bob, gwen):
        shown = show(person, film)
        assert rows(shown, "Peers") == [f"{EVIL} {rest}"]
        assert b"192.0.2.7" not in shown.content


def test_a_dialog_has_the_same_and_refreshes_only_that(alice, film):
    dialog = show(alice, film, **HTMX)
    assert page(dialog).select_one("form[method=dialog] h2").get_text() == "Film"
    element = page(dialog).select_one("#details-facts")
    assert element["data-poll"]
    again = alice.client.get(element["hx-get"], headers=HTMX)
    assert page(again).select_one("#details-facts").get_text() == element.get_text()
    assert not page(again).select("form")


def test_before_the_engine_answers_the_page_says_so(alice, storage):
    one = add(alice, storage, has_swarm=True)
    assert "Ferry is asking its peers and trackers." in words(show(alice, one), ".details")


def test_what_is_over_does_not_refresh(alice, storage):
    one = add(alice, storage, state="failed", log=[])
    shown = show(alice, one)
    assert "data-poll" not in page(shown).select_one("#details-facts").attrs
    assert "Peers" not in words(shown, ".details")


def test_rows_lead_to_it(alice, film):
    row = page(alice.client.get("/transfers/")).select_one(f"#t{film.id}")
    assert row.select_one(".transfer-name a[data-details]")["href"] == (
        f"/transfers/t{film.id}/details/"
    )
    assert page(alice.client.get("/transfers/")).select("#transfer-menu [data-details]")


# History


def history(*log, state="downloading", **transfer):
    cached = CachedTransfer("t1", "1", "Film", state=state, added_at=AT_NOON - 60, **transfer)
    lines = tuple(LogLine(kind=kind, at=AT_NOON + at, reason=why) for kind, at, why in log)
    read = TransferFacts(
        datetime.fromtimestamp(AT_NOON - 60, UTC), 0, has_swarm=False, swarm=None, log=lines
    )
    shown = details_page(cached, read, CONTEXT, shows_addresses=False)["history"]
    return [text for _time, _iso, text in shown]


def test_states_become_periods_the_latest_first():
    assert history(
        ("metadata", 0, ""), ("stalled", 30, "no_peers"), ("downloading", 210, ""),
        ("stopped", 810, ""), ("downloading", 8_010, ""),
    )[:-1] == [
        "Was paused for 2 hours.", "Downloaded for 10 minutes.", "Waited 3 minutes for peers.",
        "Waited 30 s for the list of files.", "Waited 1 minute for a free slot.",
    ]  # fmt: skip


def test_the_end_has_a_line():
    assert history(("moving", 0, ""), ("done", 5, ""), state="done")[:2] == [
        "It's in your files.",
        "Moved to your files within 5 s.",
    ]
    failed = history(("failed", 0, "same_torrent"), state="failed")[0]
    assert failed == "Failed: another transfer is already fetching this torrent."


@each_case(
    ("kind", "words"),
    [
        ("url", "Waited 9 s for its server."),
        ("zip", None),
        ("", "Waited 9 s for the list of files."),
    ],
)
def test_a_url_has_no_list_of_files(kind, words):
    lines = history(("metadata", 0, ""), ("downloading", 9, ""), kind=kind)
    assert (words in lines) is (words is not None)
    assert len(lines) == (3 if words else 2)


def test_states_of_a_newer_version_and_clocks_that_go_back_have_no_line():
    lines = history(("thinking", 0, "deeply"), ("downloading", 90, ""), ("stopped", 30, ""))
    assert lines[:-1] == ["Waited 1 minute for a free slot."]


# Pieces


def test_a_picture_is_short_whatever_there_is():
    pieces = Pieces(10**6, tuple(each % 101 for each in range(200)), tuple(range(200)))
    picture = pieces_picture(pieces)
    assert len(picture["arrived"]) + len(picture["copies"]) < 4_000
    assert re.fullmatch(r"[MVH\d z]+", picture["arrived"])


@each_case(
    ("shares", "path"),
    [
        ([], ""), ([1], "M0 30V0H1000V30z"), ([1, 1, 0, 0], "M0 30V0H500V30H1000V30z"),
        ([0.5, 0.5], "M0 30V15H1000V30z"),
    ],
)  # fmt: skip
def test_equal_steps_are_joined(shares, path):
    assert steps_path(shares, 30, 30) == path


# Other services


def test_a_foreign_service_has_no_details(bob, foreign):
    one = foreign.transfer("Sintel", state="downloading", progress=30)
    shown = bob.client.get("/transfers/")
    assert not page(shown).select("[data-details], #transfer-details")
    assert b"details" not in shown.content
    assert show(bob, one).status_code == 404
