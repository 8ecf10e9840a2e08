"""Complete torrents are seeded for a while, and never written again."""

import hashlib
from dataclasses import replace

import pytest

from service.torrents.events import Complete, Metadata, Seeded, Status, TorrentGone
from tests.running import free_port
from tests.service.torrents.holding import LIMITS, holding
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

PAYLOAD = bytes(range(256)) * 4_000
# libtorrent doesn't count the last block if the peer, now complete, hangs up at once.
COUNTED_BYTES = len(PAYLOAD) - 16 * 1024
UP_TO_ITS_SIZE = replace(LIMITS, seed_ratio=COUNTED_BYTES / len(PAYLOAD))


@pytest.fixture
def seeds():
    """Yield a peer that soon reconnects if the engine doesn't listen yet."""
    with seeder(min_reconnect_time=1) as peer:
        yield peer


def add_stored(held, made):
    """Add a torrent for seeding, with its file where the worker leaves it."""
    (held.folder("7") / "0").write_bytes(PAYLOAD)
    return held.add("7", made, seeding=True)


@pytest.mark.promise("a torrent is seeded")
def test_it_seeds_until_the_ratio_is_reached(tmp_path, seeds):
    made, port = torrent("x", PAYLOAD), free_port()
    with holding(tmp_path, port=port, limits=UP_TO_ITS_SIZE) as held:
        add_stored(held, made)
        seeds.want(made, tmp_path / "wanted", f"127.0.0.1:{port}")
        seeds.has(made)
        held.wait(Seeded, "7")
        held.engine.remove("7")
        held.wait(TorrentGone, "7")


def test_the_metadata_of_a_seed_is_reported_so_that_others_can_share_it(tmp_path):
    with holding(tmp_path) as held:
        add_stored(held, torrent("x", PAYLOAD))
        assert held.wait(Metadata, "7").size_bytes == len(PAYLOAD)


def test_earlier_uploads_count_toward_the_ratio(tmp_path):
    made = torrent("x", PAYLOAD)
    with holding(tmp_path) as held:
        (held.folder("7") / "0").write_bytes(PAYLOAD)
        held.add("7", made, seeding=True, uploaded_bytes=len(PAYLOAD))
        held.wait(Seeded, "7")


@pytest.mark.promise("seeding ends in time")
def test_it_seeds_until_the_time_is_up(tmp_path):
    with holding(tmp_path, limits=replace(LIMITS, seed_minutes=0)) as held:
        add_stored(held, torrent("x", PAYLOAD))
        held.wait(Seeded, "7")


def test_a_finished_download_continues_seeding_after_its_import(tmp_path, seeds):
    made, port = torrent("x", PAYLOAD, kind="v2"), free_port()
    seeds.give(made, tmp_path / "given")
    with holding(tmp_path, port=port, limits=UP_TO_ITS_SIZE) as held:
        held.add("7", made.magnet(peer=seeds.address))
        held.wait(Complete, "7")
        held.engine.seed("7")
        seeds.drop(made)
        seeds.want(made, tmp_path / "wanted", f"127.0.0.1:{port}")
        seeds.has(made)
        uploaded = held.wait(Status, "7", where=lambda each: each.uploaded_bytes >= COUNTED_BYTES)
        assert uploaded.phase == "seeding"
        held.wait(Seeded, "7")


def test_a_file_of_the_library_is_never_written_again(tmp_path, seeds):
    """Its bytes belong to the library by now. If they differ, seeding ends."""
    made, port = torrent("x", PAYLOAD), free_port()
    seeds.give(made, tmp_path / "given")
    with holding(tmp_path, port=port) as held:
        place = held.folder("7") / "0"
        other = PAYLOAD[::-1]
        place.write_bytes(other)
        held.add("7", made, seeding=True)
        seeds.drop(made)
        seeds.want(made, tmp_path / "wanted", f"127.0.0.1:{port}")
        held.wait(Seeded, "7")
        assert hashlib.sha1(place.read_bytes()).digest() == hashlib.sha1(other).digest()


def test_a_file_that_is_missing_ends_the_seeding(tmp_path, seeds):
    made, port = torrent("x", PAYLOAD), free_port()
    with holding(tmp_path, port=port) as held:
        folder = held.add("7", made, seeding=True)
        seeds.want(made, tmp_path / "wanted", f"127.0.0.1:{port}")
        held.wait(Seeded, "7")
        assert not (folder / "0").exists()


def test_the_upload_limit_holds_on_loopback_too(tmp_path, seeds):
    made, port = torrent("x", PAYLOAD), free_port()
    with holding(
        tmp_path, port=port, limits=replace(LIMITS, upload_bytes_per_second=200_000)
    ) as held:
        add_stored(held, made)
        seeds.want(made, tmp_path / "wanted", f"127.0.0.1:{port}")
        rate = held.wait(Status, "7", where=lambda each: each.upload_rate > 0).upload_rate
        assert rate < 400_000


def test_the_download_limit_holds_on_loopback_too(tmp_path, seeds):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    with holding(tmp_path, limits=replace(LIMITS, download_bytes_per_second=200_000)) as held:
        held.add("7", made.magnet(peer=seeds.address))
        held.wait(Metadata, "7")
        held.wait(Status, "7", where=lambda each: each.done_bytes > 0)
        rate = held.wait(Status, "7", where=lambda each: each.download_rate > 0).download_rate
        assert rate < 400_000
