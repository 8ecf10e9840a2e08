"""What people do to several transfers at once, and to the order of the queue."""

import json
import time

import pytest
from django.http import HttpResponse
from django.utils import timezone

from tests.cases import each_case
from tests.people import page, words
from tests.webui.transfers.test_views import (
    DUNE,
    HASH,
    LIST,
    RUNNING,
    at,
    facts,
    record,
    shown,
    state,
)
from webui.deleting.held_deletes import HELD, delete_due
from webui.models import Activity, Sent

pytestmark = pytest.mark.django_db

HTMX = {"hx-request": "true"}


def post(person, path: str, *keys: str, **fields) -> HttpResponse:
    return person.client.post(f"/transfers/{path}", {"entry": keys, **fields}, headers=HTMX)


def said(answer: HttpResponse) -> str:
    assert answer.status_code == 204, answer.content
    return json.loads(answer["HX-Trigger"])["transfers-changed"]["said"]


def undo_of(answer: HttpResponse) -> str:
    return json.loads(answer["HX-Trigger"])["transfers-changed"]["undo"]


def order(person) -> str:
    """Return the initials of the transfers under way, in order."""
    soup = page(person.client.get("/transfers/"))
    return "".join(each.get_text()[0] for each in soup.select("#active bdi"))


@pytest.fixture
def films(storage, bob) -> dict[str, str]:
    return waiting(storage, bob)


def waiting(storage, bob) -> dict[str, str]:
    """Return the keys of five films that wait, by initial."""
    names = ("Alps", "Bays", "Cliffs", "Dunes", "Elms")
    keys = {each[0]: f"t{storage.transfer(each, state='queued', size=10**9).id}" for each in names}
    assert order(bob) == "ABCDE"
    storage.calls.clear()
    return keys


# Pause and continue


def test_one_is_paused_and_continues(bob, storage, films, clock):
    key = films["B"]
    assert said(post(bob, f"change/?act=pause&entry={key}")) == "Transfer paused"
    shown = bob.client.get("/transfers/")
    assert facts(shown, key) == "Paused 0 bytes of 1 GB keeps 1 GB of space reserved"
    assert page(shown).select_one(f"#{key} .pause")["aria-label"] == "Continue Bays"
    assert order(bob) == "ABCDE"
    assert said(post(bob, f"change/?act=resume&entry={key}")) == "Transfer continues"
    assert state(bob.client.get("/transfers/"), key) == "queued"


def test_what_waits_for_its_size_keeps_no_space(bob, storage):
    one = storage.transfer("Sintel", state="stopped")
    assert facts(bob.client.get("/transfers/"), f"t{one.id}") == "Paused"


def test_the_selection_is_paused_by_one_call(bob, storage, films):
    assert said(post(bob, "change/?act=pause", films["A"], films["C"])) == "2 transfers paused"
    assert storage.calls == [("POST", "/rest/transfers/change")]
    assert [state(bob.client.get("/transfers/"), key) for key in films.values()] == [
        *("stopped", "queued", "stopped", "queued", "queued")
    ]


@pytest.mark.slow
@each_case(
    ("fields", "paused"),
    [
        ({"all": "1"}, "ABCDE"),
        ({"all": "1", "but": ["{A}", "{C}"]}, "BDE"),
        ({"all": "1", "view": "q=s"}, "ABCDE"),
        ({"all": "1", "view": "q=l"}, "ACE"),
        ({"all": "1", "view": "q=l&state=waiting", "but": ["{A}"]}, "CE"),
        ({"all": "1", "view": "q=nothing"}, ""),
        ({"all": "whole", "view": "q=nothing"}, "ABCDE"),
        ({"entry": ["{A}", "t99", "nonsense"]}, "A"),
        ({}, ""),
    ],
)
def test_all_means_all_that_match(bob, storage, fields, paused):
    films = waiting(storage, bob)
    filled = {
        name: [each.format(**films) for each in given] if isinstance(given, list) else given
        for name, given in fields.items()
    }
    bob.client.post("/transfers/change/?act=pause", filled, headers=HTMX)
    states = {each.title[0]: each.facts["state"] for each in storage.fake.transfers.values()}
    assert "".join(name for name, state in states.items() if state == "stopped") == paused


def test_all_are_paused_and_continue_from_the_head_of_the_page(bob, storage, films):
    pause, resume = page(bob.client.get("/transfers/")).select("#pause-all, #resume-all")
    bob.client.post(pause["formaction"], headers=HTMX)
    assert {each.facts["state"] for each in storage.fake.transfers.values()} == {"stopped"}
    assert said(bob.client.post(resume["formaction"], headers=HTMX)) == "5 transfers continue"


def test_what_cannot_be_paused_stays_as_it_is(bob, storage, films, clock):
    moving = storage.transfer("Moving", state="moving", progress=100, size=10)
    failed = storage.transfer("Failed", state="failed")
    at(clock, 3)
    soup = page(bob.client.get("/transfers/"))
    assert soup.select(f"#t{moving.id} .pause, #t{failed.id} .pause") == []
    answer = post(bob, "change/?act=pause", f"t{moving.id}", f"t{failed.id}")
    assert said(answer) == "Nothing changed."


def test_500_of_2000_are_paused_by_one_call_in_a_second(bob, storage, clock):
    for number in range(2_000):
        storage.transfer(f"Film {number}", state="queued", size=10**9)
    shown = bob.client.get("/transfers/")
    seen = page(shown).select_one("#seen")["value"]
    keys = [f"t{each}" for each in list(storage.fake.transfers)[:500]]
    storage.calls.clear()
    began = time.thread_time()
    answer = post(bob, "change/?act=pause", *keys)
    news = bob.client.get(LIST, {"seen": seen})
    spent = time.thread_time() - began
    assert said(answer) == "500 transfers paused"
    assert storage.calls == [("POST", "/rest/transfers/change"), ("GET", "/rest/transfer")]
    assert len(page(news).select(".transfer")) == 100
    assert spent < 1, spent


# Order


@pytest.mark.slow
@each_case(
    ("act", "chosen", "expected"),
    [
        ("first", "D", "DABCE"),
        ("first", "EB", "BEACD"),
        ("last", "A", "BCDEA"),
        ("last", "CA", "BDEAC"),
        ("up", "C", "ACBDE"),
        ("up", "BC", "BCADE"),
        ("down", "C", "ABDCE"),
        ("down", "AE", "BACDE"),
    ],
)
def test_the_order_of_the_queue_is_changed(bob, storage, act, chosen, expected):
    keys = waiting(storage, bob)
    answer = post(bob, f"change/?act={act}", *[keys[each] for each in chosen])
    assert "queue" in said(answer)
    assert order(bob) == expected


@pytest.mark.slow
@each_case(
    ("chosen", "after", "expected"),
    [
        ("E", "", "EABCD"),
        ("E", "A", "AEBCD"),
        ("A", "C", "BCADE"),
        ("A", "E", "BCDEA"),
        ("BD", "", "BDACE"),
        ("DB", "E", "ACEBD"),
        ("AE", "C", "BCAED"),
        ("C", "B", "ABCDE"),
        ("C", "gone", "CABDE"),
    ],
)
def test_what_is_dropped_goes_where_it_was_dropped(bob, storage, chosen, after, expected):
    keys = waiting(storage, bob)
    path = f"order/?after={keys.get(after, after)}"
    assert said(post(bob, path, *[keys[each] for each in chosen])) == "Moved in the queue"
    assert order(bob) == expected


@pytest.mark.slow
@each_case(
    "drop",
    [
        # The list shows running ones first: A, D; then B, C, E.
        ("E", "", "ADEBC", "AEBCD"),
        ("E", "A", "ADEBC", "AEBCD"),
        ("E", "D", "ADEBC", "AEBCD"),
        ("B", "C", "ADCBE", "ACDBE"),
        ("D", "", "DABCE", "DABCE"),
        ("A", "D", "DABCE", "BCDAE"),
        ("A", "B", "ADBCE", "BACDE"),
        ("A", "E", "DABCE", "BCDEA"),
    ],
)
def test_a_dropped_transfer_keeps_to_its_own_kind(bob, storage, clock, drop):
    chosen, after, expected, queue = drop
    keys = waiting(storage, bob)
    for key in (keys["A"], keys["D"]):
        storage.tells(storage.fake.transfers[int(key[1:])], **RUNNING)
    at(clock, 3)
    assert order(bob) == "ADBCE"
    post(bob, f"order/?after={keys.get(after, '')}", keys[chosen])
    assert order(bob) == expected
    assert "".join(each.title[0] for each in storage.fake.transfers.values()) == queue


@each_case(("key", "act"), [("B", "down"), ("C", "up")])
def test_a_step_passes_what_the_list_shows_elsewhere(bob, storage, clock, key, act):
    """The queue is B, A, D, C, E; the list shows first what runs."""
    keys = waiting(storage, bob)
    post(bob, "change/?act=first", keys["B"])
    post(bob, f"order/?after={keys['A']}", keys["D"])
    for running in (keys["A"], keys["D"]):
        storage.tells(storage.fake.transfers[int(running[1:])], **RUNNING)
    at(clock, 3)
    assert order(bob) == "ADBCE"
    assert "queue" in said(post(bob, f"change/?act={act}", keys[key]))
    assert order(bob) == "ADCBE"
    assert said(post(bob, "change/?act=up", keys["A"])) == "Nothing changed."
    assert said(post(bob, "change/?act=down", keys["E"])) == "Nothing changed."


def test_nothing_moves_that_has_ended(bob, storage):
    failed = storage.transfer("Failed", state="failed")
    bob.client.get("/transfers/")
    assert said(post(bob, "order/?after=", f"t{failed.id}")) == "Nothing changed."


# Who may


def test_guests_see_and_cannot_act(gwen, storage):
    storage.transfer("Sintel", **RUNNING)
    soup = page(gwen.client.get("/transfers/"))
    assert soup.select(".transfer")
    assert soup.select(".tick, .pause, .cancel, #entries, #pause-all, #select") == []
    assert soup.select_one(".more")["data-acts"] == ""


def test_a_foreign_service_offers_no_pause_and_no_order(bob, foreign):
    one = foreign.transfer("Sintel", **RUNNING)
    soup = page(bob.client.get("/transfers/"))
    assert soup.select(".pause, #pause-all, [data-for=pause], [data-for=move]") == []
    assert soup.select_one(".more")["data-acts"] == "cancel"
    assert soup.select(".tick")
    assert post(bob, "change/?act=pause", f"t{one.id}").status_code == 404
    assert post(bob, "order/?after=", f"t{one.id}").status_code == 404


@each_case("act", ["", "delete", "PAUSE"])
def test_an_unknown_change_is_refused(bob, films, act):
    assert post(bob, f"change/?act={act}", films["A"]).status_code == 404


# Cancel and remove


def test_canceling_several_asks_once_and_has_one_undo(bob, storage, films):
    asked = post(bob, "cancel/", films["A"], films["C"])
    assert words(asked, "#remove-title") == "Cancel 2 transfers?"
    assert "Ferry hasn't downloaded any of them yet." in words(asked, "#remove-text")
    assert [each.get_text() for each in page(asked).select("bdi")] == ["Alps", "Cliffs"]
    fields = {each["name"]: each["value"] for each in page(asked).select("[name=confirmed]")}
    keys = [each["value"] for each in page(asked).select("[name=entry]")]
    answer = post(bob, "cancel/", *keys, **fields)
    assert said(answer) == "2 transfers canceled"
    assert order(bob) == "BDE"
    assert {each.facts["state"] for each in storage.fake.transfers.values()} == {
        "queued",
        "stopped",
    }
    assert said(bob.client.post(undo_of(answer), headers=HTMX)) == "2 transfers restored"
    assert order(bob) == "ABCDE"
    assert {each.facts["state"] for each in storage.fake.transfers.values()} == {"queued"}
    event = Activity.objects.get()
    assert (event.subject, event.count) == ("Alps", 2)


def test_undoing_a_cancel_leaves_paused_what_was_paused(bob, storage, films):
    post(bob, "change/?act=pause", films["B"])
    bob.client.get("/transfers/")
    answer = post(bob, "cancel/", films["A"], films["B"], confirmed="1")
    bob.client.post(undo_of(answer), headers=HTMX)
    shown = bob.client.get("/transfers/")
    assert (state(shown, films["A"]), state(shown, films["B"])) == ("queued", "stopped")


def test_canceled_ones_end_once_the_undo_has_expired(bob, storage, films):
    post(bob, "cancel/", films["A"], films["C"], confirmed="1")
    delete_due(timezone.now() + HELD)
    assert {each.title[0] for each in storage.fake.transfers.values()} == set("BDE")


def test_what_has_ended_is_removed_without_a_question(bob, storage):
    rows = [record(storage, state="done", info_hash=digit * 40) for digit in "ab"]
    bob.client.get("/transfers/")
    answer = post(bob, "cancel/", *[f"s{each.pk}" for each in rows])
    assert said(answer) == "2 transfers removed"
    assert shown(bob) == set()
    bob.client.post(undo_of(answer), headers=HTMX)
    assert shown(bob) == {f"s{each.pk}" for each in rows}


def test_all_that_match_are_canceled_at_a_foreign_service_too(bob, foreign):
    for name in ("Alps", "Bays", "Cliffs"):
        foreign.transfer(name, **RUNNING)
    bob.client.get("/transfers/")
    asked = post(bob, "cancel/", all="1", view="q=l")
    assert words(asked, "#remove-title") == "Cancel 2 transfers?"
    fields = {each["name"]: each["value"] for each in page(asked).select("input")}
    assert (fields["all"], fields["view"]) == ("1", "q=l")
    assert "840 MB" in words(asked, "#remove-text")
    answer = bob.client.post("/transfers/cancel/", fields, headers=HTMX)
    assert said(answer) == "2 transfers canceled"
    assert order(bob) == "B"


def test_canceling_works_without_scripts(bob, storage, films):
    fields = {"entry": [films["A"], films["C"]], "view": "q=l"}
    asked = bob.client.post("/transfers/cancel/", fields)
    assert words(asked, "h1") == "Cancel 2 transfers?"
    assert page(asked).select_one("a[data-close]")["href"] == "/transfers/?q=l"
    answer = bob.client.post("/transfers/cancel/", {**fields, "confirmed": "1"})
    assert answer["Location"].startswith("/transfers/?q=l&cleared=")
    banner = bob.client.get(answer["Location"])
    assert "2 transfers canceled" in words(banner, ".banner")
    bob.client.post(page(banner).select_one(".banner")["action"])
    assert order(bob) == "ABCDE"


def test_pausing_works_without_scripts_and_keeps_the_filter(bob, storage, films):
    fields = {"entry": [films["A"]], "view": "q=l&sort=size"}
    answer = bob.client.post("/transfers/change/?act=pause", fields)
    assert answer["Location"] == "/transfers/?q=l&sort=size"
    assert "Transfer paused" in words(bob.client.get(answer["Location"]), "#toasts")


def test_nothing_is_asked_about_what_is_gone(bob, storage, films):
    asked = post(bob, "cancel/", "t99")
    assert "Someone else has already removed these transfers." in words(asked, "#remove-text")
    assert page(asked).select("[type=submit]") == []


# Retry, and links


def test_failed_ones_are_sent_again(bob, storage):
    for digit in "ab":
        failed = storage.transfer("Sintel", state="failed", hash=digit * 40)
        source = f"magnet:?xt=urn:btih:{digit * 40}&dn=Sintel"
        record(storage, transfer_id=str(failed.id), info_hash=digit * 40, source=source)
    storage.transfer("Waits", state="queued")
    bob.client.get("/transfers/")
    assert said(post(bob, "retry/", all="1")) == "2 transfers restarted"
    assert len(storage.fake.transfers) == 3
    assert "failed" not in {each.facts.get("state") for each in storage.fake.transfers.values()}


def test_a_retry_that_stops_says_how_far_it_came(bob, storage):
    for digit in "ab":
        failed = storage.transfer("Sintel", state="failed", hash=digit * 40)
        source = f"magnet:?xt=urn:btih:{digit * 40}&dn=Sintel"
        record(storage, transfer_id=str(failed.id), info_hash=digit * 40, source=source)
    bob.client.get("/transfers/")
    keys = [f"t{each}" for each in storage.fake.transfers]
    storage.fails(f"/rest/transfer/{keys[1][1:]}", 500)
    assert said(post(bob, "retry/", *keys)).startswith("Ferry restarted 1 of 2, then stopped.")
    assert post(bob, "retry/", keys[1]).status_code >= 400


def test_links_are_sent_one_per_line(bob, storage):
    bob.client.post("/transfers/send/", {"text": DUNE})
    theirs = storage.transfer("Sintel", hash=HASH, state="queued")
    storage.transfer("Without", state="queued")
    record(storage, transfer_id="77", source_kind=Sent.ZIP, source="7", info_hash="")
    (ours,) = (
        shown(bob)
        - {f"t{theirs.id}", "t77"}
        - {f"t{each.id}" for each in storage.fake.transfers.values() if each.title == "Without"}
    )
    answer = bob.client.post("/transfers/links/", {"all": "1"})
    assert answer["Content-Type"].startswith("text/plain")
    assert set(answer.content.decode().split("\n")) == {
        DUNE,
        f"magnet:?xt=urn:btih:{HASH}&dn=Sintel",
    }
    assert bob.client.get(f"/transfers/{ours}/link/").content.decode() == DUNE
