"""Why a transfer failed, in the reader's language, without losing what the service said."""

from datetime import UTC, datetime
from typing import get_args
from zoneinfo import ZoneInfo

import msgspec
from django.utils import translation

from service import details as service_details
from service.details import Details
from tests.cases import each_case
from webui.transfers.pages import words
from webui.transfers.states import CachedTransfer
from webui.v1 import records
from webui.words import reasons
from webui.words.formatting import Calendar

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
CALENDAR = Calendar(NOON, ZoneInfo("Europe/Berlin"))
KINDS = get_args(service_details.Kind)
STATUSES = [401, 403, 404, 407, 410, 451]


def detail(details: Details, said: str = "", reason: str = "fetch_error") -> str:
    """Return what the site shows of details that went through JSON, as our own service sends it."""
    sent = msgspec.json.decode(msgspec.json.encode(details))
    read = records.explanation(sent)
    cached = CachedTransfer("t1", "1", "film", reason=reason, details=read, said=said)
    return words.detail(cached, CALENDAR)


@each_case("kind", KINDS)
def test_each_kind_has_words_in_both_halves(kind):
    details = Details(kind, status=503, limit=7, message="Input/output error")
    shown = detail(details)
    assert shown or reasons.find(kind).clause
    assert "%(" not in shown
    assert "{" not in details.sentence
    with translation.override("de"):
        assert not shown or detail(details) != shown


def test_the_site_has_no_words_for_kinds_that_no_one_sends():
    assert set(service_details.SENTENCES) == {*KINDS, *STATUSES}
    assert {*STATUSES} < set(reasons.DETAILS) < {*KINDS, *STATUSES}


@each_case("status", STATUSES)
def test_a_status_that_people_may_know_has_words(status):
    details = Details("http_status", status=status)
    assert detail(details) == details.sentence
    assert f"({status})" in details.sentence


@each_case(
    ("language", "details", "shown"),
    [
        ("en", Details("http_status", status=503), "The server reported error 503."),
        ("de", Details("http_status", status=503), "Der Server hat den Fehler 503 gemeldet."),
        ("en", Details("timeout", tries=1), "The server stopped responding. Ferry tried 1 time."),
        ("es", Details("timeout", tries=1),
         "El servidor ha dejado de responder. Ferry lo ha intentado 1 vez."),
        ("es", Details("timeout", tries=4),
         "El servidor ha dejado de responder. Ferry lo ha intentado 4 veces."),
        ("en", Details("too_many_files", limit=100_000),
         "There are more than 100,000 files in this torrent."),
        ("de", Details("too_many_files", limit=1),
         "In diesem Torrent ist mehr als 1 Datei."),
        ("de", Details("too_many_files", limit=100_000),
         "In diesem Torrent sind mehr als 100.000 Dateien."),
        ("fr", Details("disk_message", message="100% <b>"), "Message du disque : 100% <b>"),
    ],
)  # fmt: skip
def test_values_are_shown_in_the_readers_language(language, details, shown):
    with translation.override(language):
        assert detail(details) == shown


@each_case("word", ["fetch_error", "disk_error", "never_heard_of_it"])
def test_words_of_another_service_come_as_they_are_and_as_its_own(word):
    for said in ("Proxy 10.0.0.7 says 100% no to /films", "The server reported error 404."):
        cached = CachedTransfer("t1", "1", "film", reason=word, said=said)
        assert words.detail(cached, CALENDAR) == f"the service says: {said}"
        with translation.override("de"):
            assert words.detail(cached, CALENDAR) == f"der Dienst sagt: {said}"


def test_a_kind_of_a_newer_service_is_shown_in_its_own_words():
    newer = records.explanation({"kind": "tide_is_out"})
    cached = CachedTransfer(
        "t1", "1", "film", reason="fetch_error", details=newer, said="Low tide."
    )
    assert words.detail(cached, CALENDAR) == "the service says: Low tide."


@each_case(("word", "said"), [("address_refused", "No."), ("fetch_error", "")])
def test_nothing_is_added_where_there_is_nothing_to_add(word, said):
    assert words.detail(CachedTransfer("t1", "1", "film", reason=word, said=said), CALENDAR) == ""
    assert detail(Details("address_refused"), said="No.", reason="address_refused") == ""


def test_the_next_try_is_shown_in_the_readers_time_zone_and_language():
    today, tomorrow = (
        Details("connection_lost", tries=4, retry_at=f"2026-11-{day} 12:05:00") for day in (23, 24)
    )
    beginning = "The connection was lost. Ferry tried 4 times. Ferry will try again at"
    assert detail(today) == f"{beginning} 13:05."
    assert detail(tomorrow) == f"{beginning} 24 Nov, 13:05."
    assert today.sentence == f"{beginning} 2026-11-23 12:05:00 UTC."
    with translation.override("de"):
        assert "4-mal versucht" in detail(tomorrow)
        assert "24. Nov" in detail(tomorrow)


@each_case("at", ["2026-99-23 12:05:00", "9999-12-31 23:59:59", "soon"])
def test_an_invalid_next_try_is_left_out(at):
    assert detail(Details("timeout", retry_at=at)) == "The server stopped responding."


@each_case("value", ["timeout", ["timeout"], {}, {"kind": 7}, {"kind": None}, None, True])
def test_details_that_no_ferry_sends_are_dropped(value):
    assert records.explanation(value) is None


def test_hostile_values_of_details_become_their_defaults():
    hostile = {"status": "many", "limit": -1, "tries": 1e400, "message": {}, "retry_at": 7}
    assert records.explanation({"kind": "timeout", **hostile}) == records.Explanation("timeout")


@each_case("column", [None, '{"kind":"of_a_newer_version"}', '{"kind":"timeout","status":"x"}'])
def test_details_of_another_version_are_left_out(column):
    assert service_details.decode_details(column) is None
