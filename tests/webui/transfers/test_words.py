"""Why a transfer failed, in the reader's language, without losing what the service said."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from django.utils import translation

from service.fetching.errors import BadCertificate
from service.fetching.http import requests as fetching_requests
from service.fetching.http import responses as fetching_responses
from tests.cases import each_case
from webui.transfers.pages import words
from webui.words.formatting import Calendar

NOON = datetime(2026, 11, 23, 12, tzinfo=UTC)
CALENDAR = Calendar(NOON, ZoneInfo("Europe/Berlin"))
TRIED = "Ferry tried 10 times."
OURS = [
    *fetching_responses.REASONS.values(),
    fetching_responses.reason(503),
    *(words for _kind, words in fetching_requests.TROUBLES),
    BadCertificate().sentence,
    "The server sent less data than it announced.",
    "The address redirects more than 10 times.",
]


@each_case("said", [*OURS, *(f"{each} {TRIED}" for each in OURS)])
def test_every_sentence_of_ferrys_own_service_is_known(said):
    assert words.detail("fetch_error", said, CALENDAR) == said


def test_reasons_are_in_the_readers_language():
    with translation.override("de"):
        assert (
            words.detail("fetch_error", "The server reported error 503.", CALENDAR)
            == "Der Server hat den Fehler 503 gemeldet."
        )


@each_case("word", ["fetch_error", "disk_error", "never_heard_of_it"])
def test_words_of_another_service_come_as_they_are_and_as_its_own(word):
    said = "Proxy 10.0.0.7 says 100% no to /films"
    assert words.detail(word, said, CALENDAR) == f"the service says: {said}"
    assert words.detail(word, f"The server reported error 404. {said}", CALENDAR).endswith(
        f"404. {said}"
    )
    with translation.override("de"):
        assert words.detail(word, said, CALENDAR) == f"der Dienst sagt: {said}"


@each_case(("word", "said"), [("address_refused", "No."), ("fetch_error", "")])
def test_nothing_is_added_where_there_is_nothing_to_add(word, said):
    assert words.detail(word, said, CALENDAR) == ""


def test_the_next_try_is_shown_in_the_readers_time_zone():
    said = "The connection was lost. Ferry tried 4 times. Ferry will try again at {} UTC."
    sentences = [
        words.detail("retrying", said.format(at), CALENDAR)
        for at in ("2026-11-23 12:05:00", "2026-11-24 12:05:00")
    ]
    beginning = "The connection was lost. Ferry tried 4 times. Ferry will try again at"
    assert sentences == [f"{beginning} 13:05.", f"{beginning} 24 Nov, 13:05."]


@each_case("at", ["2026-99-23 12:05:00", "9999-12-31 23:59:59", "soon"])
def test_an_invalid_next_try_is_passed_through(at):
    said = f"Ferry will try again at {at} UTC."
    assert words.detail("retrying", said, CALENDAR) == f"the service says: {said}"
