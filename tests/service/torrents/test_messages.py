import pytest

from service.details import Details
from service.torrents.events import (
    Arrived,
    Complete,
    FileOf,
    Metadata,
    Restarted,
    Seeded,
    Status,
    TorrentBroken,
    TorrentGone,
)
from service.torrents.messages import (
    LONGEST_LINE,
    EventReader,
    Garbled,
    Lines,
    line_of,
    lines_of_event,
    order_document,
    order_of,
)
from service.torrents.orders import Order
from tests.cases import each_case
from tests.service.torrents.holding import LOOPBACK

FILES = tuple(
    FileOf(number, ("a\n\u2028" * 90, f"{number}é"), number, number % 2 == 0, False)
    for number in range(9_000)
)
EVENTS = [
    Metadata("1", "na\nme\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
             "a" * 40, "", False, True, 5, FILES),
    Status("1", "downloading", 1, 2, 3, 4, 5, 6, 7, 8, 9, 1.5, 10),
    Arrived("1", 2, 3), Complete("1"), Seeded("1"), TorrentGone("1"),
    TorrentBroken("1", "disk_error", Details("disk_message", message="…")),
    TorrentBroken("1", "same_torrent", other="2"), Restarted(("1", "2")),
]  # fmt: skip


@each_case("event", EVENTS)
def test_an_event_survives_serialization(event):
    lines, reader = Lines(), EventReader()
    read = [
        reader.event(document) for line in lines_of_event(event) for document in lines.feed(line)
    ]
    assert read[-1] == event
    assert not any(read[:-1])


@each_case("order", [Order("1", "/a", "magnet:?"), LOOPBACK])
def test_an_order_survives_serialization(order):
    (document,) = Lines().feed(line_of(order_document(order)))
    assert order_of(document, type(order)) == order


def test_lines_stay_short_for_any_number_of_files():
    lines = list(lines_of_event(EVENTS[0]))
    assert len(lines) > 10
    assert max(map(len, lines)) < LONGEST_LINE


def test_lines_come_in_any_pieces():
    lines = Lines()
    whole = line_of({"a": 1}) + line_of({"b": 2})
    read = [document for letter in whole for document in lines.feed(bytes([letter]))]
    assert read == [{"a": 1}, {"b": 2}]


@each_case(
    "line",
    [b"x" * (LONGEST_LINE + 1), b"x\n", b"[]\n", b"[" * 200_000 + b"\n", b"\xff\n"],
)
def test_a_malformed_line_is_refused(line):
    with pytest.raises(Garbled):
        Lines().feed(line)


@each_case(
    "document",
    [
        {},
        {"event": "Order"},
        {"event": "Complete"},
        {"event": "Complete", "key": 1},
        {"event": "Complete", "key": "1", "more": 1},
        {"event": "Restarted", "suspects": "1"},
        {"event": "Restarted", "suspects": [1]},
        {"event": "Status", "key": "1"},
        {"files": 1},
        {"files": [[]]},
        {"files": [[0, ["a"], -1, False, False]]},
        {"files": [[-1, ["a"], 1, False, False]]},
        {"files": [[0, [1], 1, False, False]]},
        {"files": [[0, [], 1, False, False]]},
        {"files": [[0, ["a"], 1, 0, 0]]},
    ],
)
def test_a_malformed_event_is_refused(document):
    with pytest.raises(Garbled):
        EventReader().event(document)


@each_case("document", [{}, {"order": "Engine"}, {"order": "Order", "key": "1"}])
def test_a_malformed_order_is_refused(document):
    with pytest.raises(Garbled):
        order_of(document, Order)


def test_files_share_the_names_of_their_folders():
    """Otherwise, a hundred folders for each of 100,000 files would take 500 MB."""
    lines, reader = Lines(), EventReader()
    messages = [
        reader.event(document)
        for line in lines_of_event(EVENTS[0])
        for document in lines.feed(line)
    ]
    first, last = messages[-1].files[0], messages[-1].files[-1]
    assert first.path[0] is last.path[0]
