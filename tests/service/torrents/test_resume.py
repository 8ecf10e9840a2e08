"""A torrent keeps its data across a stop, a kill, and a damaged file."""

import os
import shutil
import signal
import sys
from dataclasses import replace

import pytest

from service.torrents.engine import child
from service.torrents.engine.files import RESUME, TorrentFolder
from service.torrents.events import Arrived, Complete, Metadata, Restarted, Status, TorrentGone
from service.torrents.orders import Order
from tests.service.torrents.holding import Held, holding, listening_port
from tests.swarm import seeder, torrent

pytestmark = pytest.mark.slow

SLOW = 400_000
HARM = ["empty", "other", "half", "flipped"]
PAYLOAD = bytes(range(256)) * 8_000
MANY = {("a",): PAYLOAD, ("b",): PAYLOAD[::-1]}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Stop an engine in a slow download; return its home, the torrent, and the bytes it had."""
    home, made = tmp_path_factory.mktemp("half"), torrent("x", MANY)
    with seeder(upload_rate_limit=SLOW) as slow, holding(home) as held:
        slow.give(made, home / "given")
        held.add("7", made.magnet(peer=slow.address))
        had = held.wait(Status, "7", where=lambda each: each.done_bytes > 600_000).done_bytes
    assert had < 2 * len(PAYLOAD)
    return home, made, had


@pytest.fixture
def half(tmp_path, stopped):
    """Copy the home of `stopped` for each test; return the torrent and the bytes it had."""
    home, made, had = stopped
    shutil.copytree(home / "transfers", tmp_path / "transfers")
    return made, had


def again(held: Held, made, peer=""):
    held.keys.add("7")
    held.engine.add(held_order(held, made, peer))


def held_order(held: Held, made, peer):
    return Order("7", str(held.folder("7")), made.magnet(peer=peer), may_download=True)


@pytest.mark.promise("a stopped engine continues")
def test_a_stopped_engine_continues_where_it_stopped(tmp_path, half):
    made, had = half
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        metadata = held.wait(Metadata, "7")
        held.events.append(metadata)
        held.complete("7", made)
        assert seeds.uploaded_bytes(made) <= 2 * len(PAYLOAD) - had


@pytest.mark.promise("a paused torrent keeps its bytes", cases=["alive"])
@pytest.mark.parametrize("is_killed", [False, True], ids=["alive", "killed"])
def test_a_removed_torrent_keeps_what_has_arrived(tmp_path, half, is_killed):
    """A paused transfer is removed from the engine, which last saved half a minute ago."""
    made, had = half
    with seeder(upload_rate_limit=SLOW) as slow, holding(tmp_path) as held:
        slow.give(made, tmp_path / "given")
        again(held, made, slow.address)
        held.wait(Status, "7", where=lambda each: each.done_bytes > had + 600_000)
        held.engine.remove("7")
        held.wait(TorrentGone, "7")
        if is_killed:
            os.kill(held.engine.pid, signal.SIGKILL)
            held.wait(Restarted)
        with seeder() as seeds:
            seeds.give(made, tmp_path / "given")
            again(held, made, seeds.address)
            held.events.append(held.wait(Metadata, "7"))
            held.complete("7", made)
            assert seeds.uploaded_bytes(made) <= 2 * len(PAYLOAD) - had - 600_000


def test_a_file_requested_late_arrives_complete(tmp_path):
    """The first piece has the end of one file and the beginning of the other."""
    made = torrent("x", {("a",): b"a" * 20_000, ("b",): b"b" * 900_000})
    with seeder(upload_rate_limit=SLOW) as slow, holding(tmp_path) as held:
        slow.give(made, tmp_path / "given")
        held.keys.add("7")
        order = held_order(held, made, slow.address)
        held.engine.add(replace(order, unwanted=(0,)))
        held.wait(Status, "7", where=lambda each: each.done_bytes > 100_000)
    assert not (tmp_path / "transfers" / "7" / "0").exists()
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        held.events.append(held.wait(Metadata, "7"))
        held.complete("7", made)


@pytest.mark.parametrize("content", [b"", b"x" * 50_000, "half", "flipped"], ids=HARM)
def test_a_damaged_file_costs_a_check_and_nothing_else(tmp_path, half, content):
    made, had = half
    place = tmp_path / "transfers" / "7" / RESUME
    whole = place.read_bytes()
    assert len(whole) > 100
    damaged = {"half": whole[: len(whole) // 2], "flipped": whole[:-9] + b"x" + whole[-8:]}
    place.write_bytes(damaged.get(content, content))
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        held.wait(Complete, "7")
        assert seeds.uploaded_bytes(made) <= 2 * len(PAYLOAD) - had


@pytest.mark.promise("damaged metadata is fetched again")
def test_damaged_magnet_metadata_is_fetched_again(tmp_path, half):
    made, _ = half
    (tmp_path / "transfers" / "7" / "metadata.torrent").write_bytes(b"d4:info")
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        held.wait(Complete, "7")


@pytest.mark.promise("changed bytes are detected")
def test_changed_bytes_are_detected_after_a_reboot(tmp_path, half, monkeypatch):
    """A restart may lose bytes that were only in memory, so everything is checked again."""
    made, _ = half
    folder = tmp_path / "transfers" / "7"
    places = TorrentFolder(str(folder))
    assert places.resume()
    # The kernel's boot id changes only with a real restart.
    monkeypatch.setattr("common.storage.durable.BOOT_ID", tmp_path / "another")
    (tmp_path / "another").write_text("another start")
    assert places.resume() is None
    content = (folder / RESUME).read_bytes()
    (folder / RESUME).write_bytes(bytes(32) + content[32:])
    with (folder / "0").open("r+b") as file:
        file.write(bytes(200_000))
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        held.events.append(held.wait(Metadata, "7"))
        held.complete("7", made)


def test_a_killed_engine_repeats_no_more_than_half_a_minute(tmp_path, monkeypatch):
    """The interval is a constant; this engine saves more often, so that the test is quick."""
    assert child.RESUME_SECONDS <= 30
    made = torrent("x", MANY)
    with seeder(upload_rate_limit=SLOW) as slow, holding(tmp_path, often(tmp_path)) as held:
        slow.give(made, tmp_path / "given")
        held.add("7", made.magnet(peer=slow.address))
        had = held.wait(Status, "7", where=lambda each: each.done_bytes > 400_000).done_bytes
        held.wait(Status, "7", where=lambda each: each.done_bytes > had + 400_000)
        os.kill(held.engine.pid, signal.SIGKILL)
        held.wait(Restarted)
        with seeder() as seeds:
            seeds.give(made, tmp_path / "given")
            again(held, made, seeds.address)
            held.events.append(held.wait(Metadata, "7"))
            held.complete("7", made)
            assert seeds.uploaded_bytes(made) <= 2 * len(PAYLOAD) - had


def often(tmp_path):
    script = tmp_path / "often.py"
    script.write_text(
        "from service.torrents import __main__\n"
        "from service.torrents.engine import child\nchild.RESUME_SECONDS = 0.2\n__main__.main()\n"
    )
    return (sys.executable, str(script))


def test_a_file_that_is_missing_is_fetched_again(tmp_path, half):
    made, _ = half
    (tmp_path / "transfers" / "7" / "0").unlink()
    with seeder() as seeds, holding(tmp_path) as held:
        seeds.give(made, tmp_path / "given")
        again(held, made, seeds.address)
        held.events.append(held.wait(Metadata, "7"))
        held.complete("7", made)


def test_a_whole_torrent_is_complete_at_once_after_a_restart(own, seeds, tmp_path):
    made = torrent("x", {("a",): PAYLOAD, ("b",): b""}, kind="v2")
    seeds.give(made, tmp_path / "given")
    again(own, made, seeds.address)
    own.wait(Complete, "7")
    own.engine.stop(5)
    with holding(tmp_path) as later:
        again(later, made)
        later.events.append(later.wait(Metadata, "7"))
        later.complete("7", made)


def test_a_seeder_that_vanishes_and_returns_is_met_again(held, tmp_path):
    made = torrent("x", PAYLOAD)
    with seeder(upload_rate_limit=SLOW) as slow:
        slow.give(made, tmp_path / "given")
        held.add("7", made.magnet(peer=slow.address))
        held.wait(Status, "7", where=lambda each: each.done_bytes > 0)
    held.events.clear()
    held.wait(Status, "7", where=lambda each: each.peers_connected == 0)
    held.engine.pause("7")
    held.wait(Status, "7", where=lambda each: each.phase == "paused")
    with seeder() as seeds:
        seeds.give(made, tmp_path / "given")
        held.engine.resume("7")
        seeds.meet(made, f"127.0.0.1:{listening_port(held.engine.pid)}")
        held.wait(Complete, "7")


def test_a_torrent_that_is_paused_while_it_is_checked_is_not_fetched_again(held, seeds, tmp_path):
    made = torrent("x", PAYLOAD * 64, piece_bytes=2**18)
    seeds.give(made, tmp_path / "given")
    (held.folder("7") / "0").write_bytes(PAYLOAD * 64)
    held.add("7", made)
    held.wait(Arrived, "7")
    held.engine.remove("7")
    held.wait(TorrentGone, "7")
    again(held, made, seeds.address)
    held.wait(Complete, "7")
    assert seeds.uploaded_bytes(made) == 0
