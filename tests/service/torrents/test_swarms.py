"""What the engine sees of a torrent's peers, trackers, and pieces when it is asked."""

import time

import pytest

from service.details import Details
from service.torrents.engine.status import pieces_of, printable, says
from service.torrents.events import Status, Swarm, TrackerRefused
from tests.cases import each_case
from tests.service.torrents.holding import holding
from tests.swarm import Answering, Tracker, bencode, seeder, serving_http, torrent

FILM = torrent("film.mkv", b"film" * 1_000_000, piece_bytes=2**14)
RIGHT_TO_LEFT = "\u202e"


def swarm(held, key="7", where=lambda _: True):
    """Ask until an answer is as expected; there is none while libtorrent lacks the torrent."""
    deadline = time.monotonic() + 60
    while True:
        assert time.monotonic() < deadline, held.describe_events()
        held.engine.look(key)
        held.engine.wait(0.3)
        held.events += held.engine.poll()
        for each in held.events:
            if isinstance(each, Swarm) and each.key == key and where(each):
                held.events.remove(each)
                return each


def tracker(held, state):
    """Return the only tracker once it is in a state."""
    [only] = swarm(held, where=lambda each: each.trackers[0].state == state).trackers
    return only


def failing(body, status=200):
    return serving_http(Answering(body=body, status=status))


@pytest.mark.slow
@pytest.mark.promise("a swarm as the engine sees it")
def test_peers_pieces_and_a_tracker_that_works(tmp_path):
    with seeder(upload_rate_limit=300_000) as peer, serving_http(Tracker()) as announces:
        peer.give(FILM, tmp_path / "given")
        announces.peers = [peer.address]
        with holding(tmp_path) as held:
            held.add("7", FILM.magnet(trackers=[f"{announces.announce}?passkey=s3cr3t0123"]))
            seen = swarm(
                held,
                where=lambda each: any(peer.download_rate for peer in each.peers),
            )
            assert (seen.peer_count, len(seen.peers)) == (1, 1)
            [one] = seen.peers
            assert (one.address, one.connection, one.progress) == ("127.0.0.1", "tcp", 100)
            assert one.client.startswith("libtorrent/")
            assert (seen.pieces.count, len(seen.pieces.arrived)) == (245, 200)
            assert set(seen.pieces.copies) == {1}
            assert 0 < sum(seen.pieces.arrived) < 200 * 100
            assert 1 <= seen.availability < 2
            assert tracker(held, "working").host == f"127.0.0.1:{announces.port}"
            assert "s3cr3t" not in str(seen)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (b"you are banned", "you are banned"),
        (f"<b>no</b>\x1b[2J\n{RIGHT_TO_LEFT}txt".encode(), "<b>no</b> [2J txt"),
        (b"\xff\xfe denied", "\N{REPLACEMENT CHARACTER}" * 2 + " denied"),
        (b"passkey s3cr3t0123 unknown", "passkey … unknown"),
        (b"x" * 5_000, "x" * 200),
    ],
)
def test_a_tracker_that_refuses(tmp_path, words, shown):
    with failing(bencode({"failure reason": words})) as refuses, holding(tmp_path) as held:
        held.add("7", FILM.magnet(trackers=[f"{refuses.announce}?passkey=s3cr3t0123"]))
        details = Details("tracker_says", message=shown)
        assert held.wait(TrackerRefused).details == details
        answer = tracker(held, "failed")
        assert (answer.details, answer.host) == (details, f"127.0.0.1:{refuses.port}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "status", "details"),
    [
        (b"", 404, Details("http_status", status=404)),
        (b"<html>", 200, Details("bad_response")),
    ],
)
def test_a_tracker_that_fails_is_not_one_that_refuses(tmp_path, body, status, details):
    with failing(body, status) as fails, holding(tmp_path) as held:
        held.add("7", FILM.magnet(trackers=[fails.announce]))
        assert tracker(held, "failed").details == details
        assert not [each for each in held.events if isinstance(each, TrackerRefused)]


@pytest.mark.slow
def test_a_tracker_says_something_beside_its_answer(tmp_path):
    body = bencode({"interval": 1800, "peers": b"", "warning message": b"an old client"})
    with failing(body) as warns, holding(tmp_path) as held:
        held.add("7", FILM.magnet(trackers=[warns.announce]))
        working = tracker(held, "working")
        assert working.details == Details("tracker_says", message="an old client")


@pytest.mark.slow
def test_a_torrent_that_is_seeded_and_one_that_libtorrent_does_not_have(tmp_path):
    with holding(tmp_path) as held:
        (held.folder("7") / "0").write_bytes(b"film" * 1_000_000)
        held.add("7", FILM, seeding=True)
        held.wait(Status, "7", where=lambda each: each.phase == "seeding")
        seen = swarm(held)
        assert set(seen.pieces.arrived) == {100}
        assert (seen.peers, seen.trackers) == ((), ())
        held.add("8", FILM.magnet(only="v1").replace(FILM.hash_v1, "8" * 40), may_download=False)
        held.engine.look("9")
        assert swarm(held, "8").pieces.count == 0


@each_case(
    ("count", "buckets"), [(0, 0), (1, 1), (199, 199), (200, 200), (201, 200), (100_000, 200)]
)
def test_each_piece_is_in_one_bucket(count, buckets):
    pieces = pieces_of([True] * count, range(1, count + 1))
    assert (pieces.count, len(pieces.arrived)) == (count, buckets)
    assert set(pieces.arrived) <= {100}
    assert list(pieces.copies) == sorted(pieces.copies)


def test_the_rarest_piece_of_a_bucket_counts():
    assert pieces_of([False] * 400, [5, 0] * 200).copies == (0,) * 200


@each_case(
    ("text", "shown"),
    [
        ("µTorrent 3.6", "µTorrent 3.6"), ("a\u202eb\u200bc", "a b c"), ("\x00\x1b[2J", "[2J"),
        ("\ud800", ""), ("  x \n y ", "x y"), ("é" * 100, "é" * 40), ("\n" * 1_000 + "x", ""),
    ],
)  # fmt: skip
def test_hostile_text_is_printable(text, shown):
    assert printable(text, 40) == shown


@each_case(
    "url",
    ["http://a.example/s3cr3t0123/announce", "http://a.example/announce?key=s3cr3t0123&x=1"],
)
def test_a_trackers_words_keep_its_secrets(url):
    assert says("no s3cr3t0123, announce later", url).message == "no …, announce later"
