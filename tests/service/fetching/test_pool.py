"""Fetches from good and bad servers on loopback."""

import gzip
import json
import os
import random
import threading
import time
from contextlib import suppress
from email.utils import formatdate
from itertools import count, pairwise

import pytest

from service.details import Details
from service.fetching.events import Head, MagnetFound, TorrentFound, Waiting
from service.fetching.fetch import Fetch
from service.fetching.pace import Pace
from service.torrents.events import Complete, Status, TorrentBroken, TorrentGone
from tests.cases import each_case
from tests.certificates import self_signed
from tests.leftovers import in_use
from tests.misbehaving import (
    CHUNKED,
    answers,
    chunk,
    head,
    resetting,
    serving,
    then_dripping,
    then_pouring,
    then_silent,
    whole,
)
from tests.service.fetching.servers import (
    CONTENT,
    Side,
    file,
    first_of,
    first_of_head,
    in_turn,
    next_part,
    url_of,
    waits_told,
)
from tests.service.working import until

DONE = Complete("7")
TORRENT = b"d8:announce22:http://tracker.example4:infod6:lengthi5e4:name1:aee"
TORRENT_TYPE = "application/x-bittorrent"
MAGNET = "magnet:?xt=urn:btih:" + "a" * 40 + "&dn=A+film"


@pytest.fixture
def sides(tmp_path):
    """Yield a function that makes sides with separate folders, for tests with many cases."""
    made = []

    def one(**wanted):
        folder = tmp_path / f"side {len(made)}"
        folder.mkdir()
        made.append(Side(folder, **wanted))
        return made[-1]

    yield one
    for side in made:
        side.fetching.stop(5)


@pytest.fixture
def side(sides):
    return sides()


def details_of(event):
    assert isinstance(event, TorrentBroken), event
    return event.details


# Successful fetches


def test_a_file_is_fetched_whole(side):
    with serving(file(Content_Type="video/mp4; x=y")) as server:
        assert side.fetch(url_of(server, "/a/My%20film.mp4?token=1")) == DONE
    assert side.content == CONTENT
    assert side.heads == [Head("7", "My film.mp4", len(CONTENT), "video/mp4")]


def test_a_large_file_has_no_gap_and_nothing_twice(side):
    """The start arrives with the headers, and the rest in pieces of any size."""
    content = random.Random(1).randbytes(3_000_001)
    with serving(file(content)) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == content


def test_nothing_but_the_file_and_its_state_is_left_and_others_cannot_read_them(side):
    with serving(file(Content_Disposition='attachment; filename="../../evil"')) as server:
        side.fetch(url_of(server))
    assert {entry.name: entry.stat().st_mode & 0o777 for entry in side.folder.iterdir()} == {
        "0": 0o600,
        "resume.json": 0o600,
    }
    assert side.heads[0].name == "evil"


def test_the_address_is_not_stored_with_the_bytes(side):
    with serving(file()) as server:
        side.fetch(url_of(server, "/film?signature=SECRET"))
    assert "SECRET" not in (side.folder / "resume.json").read_text()


def test_a_web_page_is_stored_with_a_warning(side):
    with serving(answers(whole(b"<h1>Hi</h1>", Content_Type="Text/HTML; charset=utf-8"))) as server:
        assert side.fetch(url_of(server, "/film.mp4")) == DONE
    assert side.heads[0].is_page
    assert side.content == b"<h1>Hi</h1>"


def test_an_empty_file_is_a_file(side):
    with serving(answers(whole(b""))) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == b""


def test_a_file_in_chunks_has_no_size_before_its_end(side):
    body = b"".join(chunk(CONTENT[at : at + 10_000]) for at in range(0, len(CONTENT), 10_000))
    with serving(answers(CHUNKED, body, b"0\r\n\r\n")) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT
    assert side.heads[0].size_bytes == 0


def test_a_file_that_ends_with_its_connection_is_whole(side):
    with serving(answers(head(), CONTENT)) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


def test_fetches_neither_request_nor_decode_compression(side):
    packed = gzip.compress(CONTENT)
    with serving(answers(whole(packed, Content_Encoding="gzip"))) as server:
        assert side.fetch(url_of(server, "/notes.txt")) == DONE
        assert b"Accept-Encoding: identity\r\n" in server.heads[0]
    assert side.content == packed
    assert side.heads[0].name == "notes.txt.gz"


def test_a_redirect_gives_the_name_and_keeps_a_cookie(side):
    going = answers(whole(b"", "302 Go", Location="/b/film%20two.mkv", Set_Cookie="seen=1; Path=/"))
    with serving(in_turn(going, file())) as server:
        assert side.fetch(url_of(server, "/get?id=5")) == DONE
        assert b"seen=1" in server.heads[1]
    assert side.heads[0].name == "film two.mkv"


def test_ten_redirects_are_followed_and_no_more(side):
    number = count(1)

    def go(wire):
        wire.send(whole(b"", "302 Go", Location=f"/{next(number)}"))

    with serving(in_turn(*[go] * 10, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    with serving(go) as server:
        assert details_of(side.fetch(url_of(server))) == Details("too_many_redirects", limit=10)
        assert len(server.heads) == 11


def test_a_redirect_without_a_location_is_an_ordinary_response(side):
    with serving(answers(head("302 Go"))) as server:
        assert details_of(side.fetch(url_of(server))) == Details("http_status", status=302)


# Torrents and magnets


@each_case(
    ("content", "content_type"),
    [(TORRENT, "text/plain"), (b"d1:a1:be", TORRENT_TYPE), (b"d4:infod4:name1:aee", "")],
)
def test_a_torrent_file_is_handed_over_and_never_stored(sides, content, content_type):
    side = sides()
    with serving(answers(whole(content, Content_Type=content_type))) as server:
        assert side.fetch(url_of(server, "/x")) == TorrentFound("7", content)
    assert side.heads[0].is_torrent
    assert list(side.folder.iterdir()) == []


def test_content_that_is_only_labeled_a_torrent_is_a_file(side):
    with serving(answers(whole(b"<h1>Sorry</h1>", Content_Type=TORRENT_TYPE))) as server:
        assert side.fetch(url_of(server)) == DONE
    assert not side.heads[0].is_torrent


def test_a_truncated_torrent_file_is_fetched_again(side):
    cut = answers(head(Content_Length=str(len(TORRENT))), TORRENT[:40])
    full = answers(whole(TORRENT))
    with serving(in_turn(cut, full)) as server:
        assert side.fetch(url_of(server)) == TorrentFound("7", TORRENT)


@each_case("is_told", [True, False])
def test_content_larger_than_any_torrent_file_is_stored(sides, is_told):
    side = sides()
    content = TORRENT + b"x" * (10 * 2**20)
    said = {"Content_Length": str(len(content))} if is_told else {}
    with serving(answers(head(**said), content)) as server:
        assert side.fetch(url_of(server)) == DONE
    assert [head.is_torrent for head in side.heads] == ([False] if is_told else [True, False])
    assert side.content == content


def test_a_redirect_to_a_magnet_link_is_reported(side):
    with serving(answers(whole(b"", "301 Go", Location=MAGNET))) as server:
        assert side.fetch(url_of(server)) == MagnetFound("7", MAGNET)
    assert side.heads == []


# Interruptions


@each_case("cut_after", [0, 1, 63, 64, 65, 1_000, len(CONTENT) - 1])
def test_a_fetch_resumes_after_a_cut_connection(sides, cut_after):
    side = sides()
    with serving(in_turn(file(cut_after=cut_after), file())) as server:
        assert side.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[1]) == (cut_after if cut_after >= 64 else 0)
    assert side.content == CONTENT
    assert side.waits == [1.0]
    assert len(side.heads) == 1


def test_a_fetch_resumes_after_a_reset(side):
    cut = resetting(head(Content_Length=str(len(CONTENT)), ETag='"a"'), CONTENT[:1_000])
    with serving(in_turn(cut, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


def test_cut_connections_are_retried_as_long_as_data_arrives(side):
    with serving(file(cut_after=20_000)) as server:
        assert side.fetch(url_of(server)) == DONE
        assert len(server.heads) == 26
    assert side.content == CONTENT
    assert set(side.waits) == {1.0}


@pytest.mark.slow
def test_a_server_that_makes_no_progress_is_given_up(side):
    with serving(file(cut_after=20_000, ETag='W/"a"', etag='W/"a"')) as server:
        event = side.fetch(url_of(server))
        assert first_of_head(server.heads[-1]) == 0
    assert details_of(event).tries == 100
    assert side.waits[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300]


@each_case(
    ("broken", "details"),
    [
        (lambda: file(cut_after=0), Details("bad_response", tries=3)),
        (
            lambda: answers(head("503 Busy", Content_Length="0")),
            Details("http_status", status=503, tries=3),
        ),
    ],
)
def test_each_longer_wait_for_a_server_is_reported_with_its_cause(sides, broken, details):
    side = sides()
    with serving(broken()) as server:
        side.fetch(url_of(server))
    events = [event for event in side.seen if isinstance(event, Waiting)]
    assert [event.seconds for event in events] == [each for each in side.waits if each >= 4]
    assert events[0] == Waiting("7", details, 4.0)


def test_a_servers_retry_after_is_reported_at_once(side):
    busy = answers(head("503 Busy", Content_Length="0", Retry_After="60"))
    with serving(in_turn(busy, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    (waiting,) = (event for event in side.seen if isinstance(event, Waiting))
    assert waiting == Waiting("7", Details("http_status", status=503), 60.0)


def test_a_fetch_restarts_if_the_server_ignores_the_range(side):
    always_whole = answers(whole(CONTENT, ETag='"a"'))
    with serving(in_turn(file(cut_after=5_000), always_whole)) as server:
        assert side.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[1]) == 5_000
    assert side.content == CONTENT


def test_changed_content_is_fetched_again_and_asks_for_space_again(side):
    other = CONTENT[::-1] + b"more"
    with serving(in_turn(file(cut_after=5_000), file(other, etag='"b"'))) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == other
    assert [head.size_bytes for head in side.heads] == [len(CONTENT), len(other)]


def test_without_an_etag_the_date_tells_whether_it_is_the_same(side):
    modified = formatdate(1_700_000_000, usegmt=True)
    dated = {"etag": modified, "ETag": "", "Last_Modified": modified}
    with serving(in_turn(file(cut_after=5_000, **dated), file(**dated))) as server:
        assert side.fetch(url_of(server)) == DONE
        assert f"If-Range: {modified}\r\n".encode() in server.heads[1]
    assert side.content == CONTENT


@each_case(
    "headers",
    [
        {"Content_Range": "bytes 4999-511999/512000"},
        {"Content_Range": "bytes 0-511999/512000"},
        {"Content_Range": "bytes 5000-511999/512001"},
        {"Content_Range": "bytes 5000-511998/512000"},
        {"Content_Range": "bytes 5000-4000/512000"},
        {"Content_Range": "bytes */512000"},
        {"Content_Range": "nonsense"},
        {"Content_Range": "bytes 5000-" + "9" * 30 + "/512000"},
        {"Content_Range": "bytes 5000-511999/512000", "ETag": '"b"'},
        {"Content_Range": "bytes 5000-511999/512000", "Content_Encoding": "gzip"},
        {},
    ],
)
def test_a_part_other_than_the_requested_one_is_never_used(sides, headers):
    side = sides()
    lie = answers(head("206 Part", Content_Length="507000", **headers), b"x" * 507_000)
    with serving(in_turn(file(cut_after=5_000), lie, file())) as server:
        assert side.fetch(url_of(server)) == DONE
        assert [first_of_head(raw) for raw in server.heads] == [0, 5_000, 0]
    assert side.content == CONTENT


def test_an_unrequested_part_is_not_accepted(side):
    lie = answers(whole(b"x", "206 Part", Content_Range="bytes 0-0/9"))
    with serving(lie) as server:
        assert details_of(side.fetch(url_of(server))) == Details("http_status", status=206)


def test_a_fetch_resumes_after_a_short_part(side):
    def shorter(wire):
        first = first_of(wire)
        end = first + 100_000
        said = f"bytes {first}-{end - 1}/{len(CONTENT)}"
        wire.send(whole(CONTENT[first:end], "206 Part", Content_Range=said, ETag='"a"'))

    with serving(in_turn(file(cut_after=5_000), shorter, shorter, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


def test_an_endless_part_ends_where_it_should(side):
    said = f"bytes 5000-{len(CONTENT) - 1}/{len(CONTENT)}"
    start = head("206 Part", Content_Range=said, Transfer_Encoding="chunked")
    endless = then_pouring(start + chunk(CONTENT[5_000:]), chunk(b"x" * 10_000))
    with serving(in_turn(file(cut_after=5_000), endless)) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


def test_a_fetch_restarts_after_an_impossible_range(side):
    unable = answers(whole(b"", "416 No", Content_Range="bytes */99"))
    with serving(in_turn(file(cut_after=5_000), unable, file())) as server:
        assert side.fetch(url_of(server)) == DONE
        assert [first_of_head(raw) for raw in server.heads] == [0, 5_000, 0]
    assert side.content == CONTENT


def test_a_416_after_all_bytes_means_the_end(side):
    cut = answers(head(Transfer_Encoding="chunked", ETag='"a"'), chunk(CONTENT))
    nothing = answers(whole(b"", "416 No", Content_Range=f"bytes */{len(CONTENT)}"))
    with serving(in_turn(cut, nothing)) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


# Pauses


def receive(side, server, until_bytes):
    """Run a fetch until it has so many bytes."""
    side.add(url_of(server))
    side.until(lambda event: isinstance(event, Status) and event.done_bytes == until_bytes)


def test_a_paused_fetch_continues_without_fetching_anything_twice(side):
    with serving(next_part(5_000)) as server:
        for turn in range(1, 5):
            receive(side, server, 5_000 * turn)
            side.fetching.remove("7", may_continue=True)
            assert side.end() == TorrentGone("7")
        assert [first_of_head(each) for each in server.heads] == [0, 5_000, 10_000, 15_000]
    assert side.content == CONTENT[:20_000]


def test_a_deleted_fetch_saves_nothing(side):
    with serving(next_part(5_000)) as server:
        receive(side, server, 5_000)
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")
    assert json.loads((side.folder / "resume.json").read_text())["safe_bytes"] == 0


# Other processes


@pytest.mark.slow
def test_another_process_continues(side):
    with serving(in_turn(then_silent(head(Content_Length="512000", ETag='"a"'), CONTENT[:5_000]),
                         file())) as server:  # fmt: skip
        side.add(url_of(server))
        side.until_true(lambda: side.statuses and side.statuses[-1].done_bytes == 5_000)
        side.fetching.stop(5)
        other = Side(side.folder)
        assert other.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[1]) == 5_000
    assert other.content == CONTENT
    assert other.heads == side.heads


def test_complete_content_is_not_fetched_again(side):
    with serving(file()) as server:
        assert side.fetch(url_of(server)) == DONE
        other = Side(side.folder)
        assert other.fetch(url_of(server)) == DONE
        assert len(server.heads) == 1
    assert other.heads == side.heads


@each_case(
    "state",
    [b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"facts": 3}', b"\xff", None],
)
def test_a_fetch_restarts_if_its_state_is_unreadable(sides, state):
    side = sides()
    (side.folder / "0").write_bytes(b"old" * 500)
    if state is not None:
        (side.folder / "resume.json").write_bytes(state)
    with serving(file()) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.content == CONTENT


def test_starting_over_keeps_files_already_in_the_library(side):
    (side.folder / "0").write_bytes(b"kept")
    (side.folder / "in the library").hardlink_to(side.folder / "0")
    with serving(file()) as server:
        assert side.fetch(url_of(server)) == DONE
    assert (side.folder / "in the library").read_bytes() == b"kept"


@pytest.mark.slow
def test_a_second_process_shows_local_data_at_once(side):
    with serving(in_turn(file(cut_after=200_000), then_silent())) as server:
        side.add(url_of(server))
        side.until_true(lambda: len(server.heads) == 2)
        side.fetching.stop(5)
        other = Side(side.folder)
        other.add(url_of(server))
        other.until_true(lambda: other.statuses and other.statuses[-1].done_bytes == 200_000)
        other.fetching.stop(5)


def test_the_state_of_another_address_is_of_no_use(side):
    with serving(file(cut_after=5_000)) as server:
        side.pace = None
        hurried_away = Side(side.folder, pace=Pace())
        hurried_away.add(url_of(server))
        hurried_away.until_true((side.folder / "resume.json").exists)
        hurried_away.fetching.stop(5)
    with serving(file()) as server:
        assert side.fetch(url_of(server, "/other")) == DONE
        assert first_of_head(server.heads[0]) == 0


def test_bytes_that_the_disk_may_have_lost_are_fetched_again(side):
    """A power cut leaves zeros after the bytes that were synced."""
    with serving(in_turn(file(cut_after=5_000), file())) as server:
        side.fetch(url_of(server))
        state = json.loads((side.folder / "resume.json").read_text())
        state |= {"safe_bytes": 4_000, "is_complete": False}
        (side.folder / "resume.json").write_text(json.dumps(state))
        (side.folder / "0").write_bytes(CONTENT[:4_000] + bytes(9_000))
        assert side.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[-1]) == 4_000
    assert side.content == CONTENT


# Retries


@each_case("status", [408, 425, 429, 500, 502, 503, 504, 599])
def test_a_server_error_is_retried(sides, status):
    side = sides()
    bad = answers(whole(b"<h1>Oh</h1>", f"{status} Oh"))
    with serving(in_turn(bad, bad, bad, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.waits == [1, 2, 4]
    assert side.content == CONTENT


@each_case("status", [400, 401, 403, 404, 410, 451, 501, 505, 204, 304, 999])
def test_permanent_errors_fail_at_once(sides, status):
    side = sides()
    with serving(answers(head(f"{status} <b>Oh</b>", Content_Length="0"))) as server:
        event = side.fetch(url_of(server))
        assert len(server.heads) == 1
    assert event.word == "fetch_error"
    assert event.details == Details("http_status", status=status)
    assert side.waits == []


def test_a_server_that_never_recovers_is_given_up(side):
    with serving(answers(whole(b"", "503 Oh"))) as server:
        event = side.fetch(url_of(server))
        assert len(server.heads) == 10
    assert event == TorrentBroken("7", "fetch_error", Details("http_status", status=503, tries=10))


@each_case(
    ("wanted", "seconds"),
    [("120", 120), ("0", 1), ("-5", 1), ("soon", 1), ("9" * 17, 3600), ("9" * 400, 1),
     (formatdate(1_700_000_090, usegmt=True), 90), (formatdate(0, usegmt=True), 1)],
)  # fmt: skip
def test_a_server_says_when_it_wants_us_back(sides, wanted, seconds):
    side = sides()
    side.hurry(today=lambda: 1_700_000_000)
    busy = answers(whole(b"", "429 Slow", Retry_After=wanted))
    with serving(in_turn(busy, file())) as server:
        assert side.fetch(url_of(server)) == DONE
    assert side.waits == [seconds]


def test_a_closed_port_is_tried_again(side):
    with serving(file()) as server:
        pass
    event = side.fetch(url_of(server))
    assert event.details == Details("unreachable", tries=10)


def test_an_invalid_name_is_reported(side):
    event = side.fetch("http://none.invalid:8080/")
    assert event.details == Details("no_such_host", tries=4)


@pytest.mark.slow
@each_case(
    "misbehave",
    [
        then_silent(),
        then_silent(head(Content_Length="500")),
        then_silent(head(Content_Length="500"), b"half"),
        then_dripping(b"", b"HTTP/1.1 200 OK"),
        then_dripping(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n"),
        then_dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        then_dripping(CHUNKED, b"0" * 16),
        then_pouring(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000),
    ],
)
def test_nothing_new_for_a_while_is_a_timeout(sides, misbehave):
    side = sides()
    side.hurry(quiet_seconds=0.2)
    with serving(in_turn(misbehave, file())) as server:
        assert side.fetch(url_of(server)) == DONE
        # On a busy machine the file itself may exceed the timeout, and is requested again.
        assert len(server.heads) >= 2
        assert side.waits[0] == 1
    assert side.content == CONTENT


def test_a_trickle_is_not_given_up(side):
    """It takes three times as long as a server may be silent."""
    clock, sizes = [0.0], [*range(5_000, 10_001, 1_000), len(CONTENT)]
    side.hurry(clock=lambda: clock[0], quiet_seconds=10)

    def trickle(wire):
        wire.send(head(Content_Length=str(len(CONTENT))))
        for sent, size in pairwise([0, *sizes]):
            clock[0] += 5
            wire.send(CONTENT[sent:size])
            until(lambda size=size: (side.folder / "0").exists() and len(side.content) == size)

    with serving(trickle) as server:
        assert side.fetch(url_of(server)) == DONE
        assert len(server.heads) == 1
    assert side.content == CONTENT


@each_case(
    "misbehave",
    [
        answers(),
        resetting(),
        answers(b"SSH-2.0-OpenSSH_9.2\r\n"),
        answers(b"\x00\x00\x12\x04\x00"),
        answers(head(Content_Length="-5"), b"x"),
        answers(head(Content_Length="5", content_length="80"), CONTENT),
        answers(head(Content_Length="9" * 4_000), b"x"),
        answers(CHUNKED, b"zz\r\n"),
        answers(CHUNKED, chunk(CONTENT)),
        then_pouring(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n" * 1_000),
        then_pouring(CHUNKED, b"0" * 65_536),
        answers(head("101 Switch", Upgrade="x", Connection="Upgrade")),
        answers(head(Content_Length="500000"), b"less"),
    ],
)
def test_malformed_responses_are_retried_and_never_saved_as_files(sides, misbehave):
    side = sides()
    with serving(in_turn(misbehave, file())) as server:
        event = side.fetch(url_of(server))
        if isinstance(event, TorrentBroken):
            assert event.details == Details("http_status", status=101)
        else:
            assert side.content == CONTENT
            assert side.waits == [1.0]


def test_a_bad_certificate_is_refused(side, tmp_path_factory):
    context = self_signed(tmp_path_factory.mktemp("tls"))
    with serving(file(), context) as server:
        event = side.fetch(url_of(server).replace("http:", "https:"))
        assert server.heads == []
    assert details_of(event) == Details("bad_certificate")
    assert side.waits == []


# Limits


def test_content_with_too_large_a_declared_size_is_refused_before_its_head_is_reported(side):
    with serving(then_silent(head(Content_Length="1001"), CONTENT[:100])) as server:
        side.hurry(most_bytes=1_000)
        assert side.fetch(url_of(server)).word == "too_large"
    assert side.heads == []


def test_content_that_grows_beyond_the_limit_is_refused(side):
    with serving(then_pouring(head(), b"x" * 65_536)) as server:
        side.hurry(most_bytes=1_000_000)
        assert side.fetch(url_of(server)).word == "too_large"
    assert len(side.content) <= 1_000_000


def test_content_of_exactly_the_limit_is_accepted(side):
    with serving(file()) as server:
        side.hurry(most_bytes=len(CONTENT))
        assert side.fetch(url_of(server)) == DONE


def test_a_full_disk_is_reported_and_the_fetch_resumes(side):
    with serving(file()) as server:
        with pytest.MonkeyPatch.context() as patch:
            # Only root can make a disk that fills up after this many writes.
            patch.setattr(os, "write", full_after(os.write, 2))
            side.add(url_of(server))
            event = side.end()
        assert event.word == "disk_full"
        assert side.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[1]) > 0
    assert side.content == CONTENT


def full_after(write, times):
    left = [times]

    def full(descriptor, content):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return write(descriptor, content)

    return full


@each_case(("ahead_bytes", "safe_every_seconds"), [(1, 5), (2**40, 0)])
def test_bytes_that_the_disk_failed_to_save_are_never_resumed_from(
    sides, monkeypatch, ahead_bytes, safe_every_seconds
):
    """The disk reports a failure only once, in an early sync or in that of `make_safe`."""
    side = sides()
    side.hurry(safe_every_seconds=safe_every_seconds)
    # No setting changes when the first sync starts.
    monkeypatch.setattr("service.fetching.http.content.AHEAD_BYTES", ahead_bytes)
    # Only root can make a disk that fails once and then works.
    monkeypatch.setattr(os, "fdatasync", failing_once(os.fdatasync))
    with serving(file()) as server:
        assert side.fetch(url_of(server)).word == "disk_error"
        assert side.fetch(url_of(server)) == DONE
        assert first_of_head(server.heads[1]) == 0
    assert side.content == CONTENT


def failing_once(sync):
    failures = [OSError(5, "Input/output error")]

    def failing(descriptor):
        if failures:
            raise failures.pop()
        sync(descriptor)

    return failing


def test_the_speed_limit_holds_for_all_fetches_together(tmp_path):
    """Each fetch waits for the bytes of all fetches."""
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        folder.mkdir()
    side = Side(folders[0], pace=Pace())
    side.fetching.throttle.change(2_000_000)
    with serving(file()) as server:
        began_at = time.monotonic()
        for number, folder in enumerate(folders):
            side.folder = folder
            side.add(url_of(server), key=str(number))
        assert {side.end().key for _ in folders} == {"0", "1", "2"}
    assert time.monotonic() - began_at >= 3 * len(CONTENT) / 2_000_000


# Orders of the worker


def test_nothing_is_written_before_it_may_proceed(side):
    side.lets_go = False
    with serving(file()) as server:
        side.add(url_of(server))
        assert side.head().size_bytes == len(CONTENT)
        assert list(side.folder.iterdir()) == []
        side.fetching.proceed("7")
        assert side.end() == DONE


def test_a_response_is_released_without_proceed_and_requested_again(side):
    side.lets_go = False
    side.hurry(hold_seconds=0.05)
    closed = threading.Event()

    def held(wire):
        # The connection is reset if the fetch closes it before it has read all of these bytes.
        with suppress(ConnectionError):
            wire.send(head(Content_Length="512000"), CONTENT[:100])
            wire.wait_for_end()
        closed.set()

    with serving(in_turn(held, file())) as server:
        side.add(url_of(server))
        side.head()
        assert closed.wait(60)
        side.fetching.proceed("7")
        assert side.end() == DONE
    assert side.content == CONTENT
    assert len(side.heads) == 1


@each_case(
    "misbehave",
    [
        then_silent(),
        then_silent(head(Content_Length="500"), b"x" * 100),
        then_pouring(head(), b"x" * 65_536),
        then_pouring(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000),
        answers(whole(b"", "503 No")),
    ],
)
def test_removing_a_fetch_ends_it_at_once_at_any_point(sides, misbehave):
    side = sides(pace=Pace())
    with serving(misbehave) as server:
        side.add(url_of(server))
        side.until_true(lambda: server.heads)
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")
        assert side.fetching.poll() == []


def test_removing_ends_a_fetch_that_waits_to_proceed(side):
    side.lets_go = False
    with serving(file()) as server:
        side.add(url_of(server))
        side.head()
        side.fetching.remove("7")
        assert side.end() == TorrentGone("7")


def test_removing_what_has_ended_or_never_was_is_answered_too(side):
    side.fetching.remove("9")
    assert side.end() == TorrentGone("9")


def test_an_ended_fetch_can_be_added_again_at_once(side):
    with serving(answers(whole(b"", "404 No"))) as server:
        for _ in range(20):
            assert isinstance(side.fetch(url_of(server)), TorrentBroken)


def test_adding_twice_is_adding_once(side):
    with serving(file()) as server:
        side.add(url_of(server))
        side.add(url_of(server))
        assert side.end() == DONE
        assert len(server.heads) == 1


def test_no_thread_and_no_descriptor_is_left(side):
    before = in_use()
    with serving(file(cut_after=100_000)) as server:
        for number in range(10):
            (side.folder / str(number)).mkdir()
            folder = side.folder / str(number)
            side.fetching.add(Fetch(str(number), url_of(server), folder))
        ended = {side.end() for _ in range(10)}
    assert ended == {Complete(str(number)) for number in range(10)}
    side.until_true(lambda: in_use() <= before)


def test_a_worker_that_was_frozen_writes_nothing_before_it_polls_again(side):
    """Another worker may have taken over the transfer meanwhile."""
    now, thaw, listens = [0.0], threading.Event(), threading.Event()
    content, state = side.folder / "0", side.folder / "resume.json"

    def is_written():
        return content.exists() and content.stat().st_size == 5_000

    def clock():
        """It is frozen as soon as it has written."""
        is_frozen = threading.current_thread() is not threading.main_thread() and is_written()
        return 13.0 if is_frozen else now[0]

    def pause(line, _seconds):
        listens.set()
        line.check()

    side.hurry(clock=clock, pause=pause, quiet_seconds=100)

    def halting(wire):
        wire.send(head(Content_Length=str(len(CONTENT)), ETag='"a"'), CONTENT[:5_000])
        thaw.wait(60)
        wire.send(CONTENT[5_000:])

    with serving(halting) as server:
        side.add(url_of(server))
        side.until_true(is_written)
        thaw.set()
        assert listens.wait(60)
        assert is_written()
        assert json.loads(state.read_bytes())["safe_bytes"] == 0
        now[0] = 13.0
        assert side.end() == DONE
    assert side.content == CONTENT


def test_progress_is_reported_at_most_once_a_second(side):
    clock = [0.0]
    side.hurry(clock=lambda: clock[0], pause=waits_told(side.waits))
    with serving(then_silent(head(Content_Length="512000"), CONTENT[:5_000])) as server:
        side.add(url_of(server))
        side.until_true(lambda: (side.folder / "0").exists() and side.content)
        assert len(side.statuses) <= 1
        clock[0] = 2.0
        side.until_true(lambda: side.statuses and side.statuses[-1].done_bytes == 5_000)
    status = side.statuses[-1]
    assert (status.phase, status.wanted_bytes, status.peers_sending) == ("downloading", 512_000, 1)
    assert status.download_rate == 2_500
