"""What the engine reports while large files arrive, so that the worker can hash them meanwhile."""

import os
from functools import cache
from types import SimpleNamespace

import libtorrent as lt

from service.torrents.engine.arrival import MOVING_SECONDS, STEP_BYTES, ArrivalOrder
from service.torrents.events import Arrived, Complete
from tests.swarm import seeder, torrent

PIECE_BYTES = 2**20
SMALL = b"small" * 100
IN_ORDER = lt.torrent_flags.sequential_download


@cache
def large() -> bytes:
    """Return a file of 96 MiB. Processes that don't run these tests needn't hold it."""
    return os.urandom(3 * STEP_BYTES + 5)


class Handle:
    def __init__(self, pieces=(), count=300):
        self.flags = set()
        self.pieces = set(pieces)
        self.count = count
        self.queue = set()

    def set_flags(self, flag):
        self.flags.add(flag)

    def unset_flags(self, flag):
        self.flags.discard(flag)

    def have_piece(self, index):
        return index in self.pieces

    def get_download_queue(self):
        """As libtorrent does, leave out the pieces of a torrent that has them all."""
        queue = () if self.status(0).is_seeding else self.queue
        return [{"piece_index": index} for index in queue]

    def status(self, _flags):
        return SimpleNamespace(is_seeding=len(self.pieces) == self.count)


def info_of(files):
    made = torrent("Films", files, kind="v1", piece_bytes=PIECE_BYTES)
    return lt.load_torrent_buffer(made.content).ti


def peers(seeds, others, done=0):
    return SimpleNamespace(num_seeds=seeds, num_peers=seeds + others, total_done=done)


def test_only_contiguous_data_is_reported():
    handle = Handle()
    arrival = ArrivalOrder(
        handle, info_of({("a.srt",): SMALL, ("b.mkv",): large(), ("c.mkv",): large()})
    )
    assert list(arrival.look()) == []
    handle.pieces = {*range(40), *range(41, 90)}
    ((index, size_bytes),) = arrival.look()
    assert (index, size_bytes) == (1, 40 * PIECE_BYTES - len(SMALL))
    assert list(arrival.look()) == []
    handle.pieces |= set(range(150))
    assert list(arrival.look()) == [
        (1, len(large())),
        (2, 150 * PIECE_BYTES - len(SMALL + large())),
    ]
    handle.pieces |= set(range(193))
    assert list(arrival.look()) == [(2, len(large()))]
    assert list(arrival.look()) == []


def test_unwritten_pieces_are_not_reported():
    handle = Handle(range(90))
    arrival = ArrivalOrder(handle, info_of({("b.mkv",): large()}))
    handle.queue = {70, 95}
    assert list(arrival.look()) == [(0, 70 * PIECE_BYTES)]
    handle.pieces, handle.queue = set(range(97)), set()
    assert list(arrival.look()) == [(0, len(large()))]


def test_once_every_piece_has_passed_nothing_is_reported():
    """Some may be unwritten, and libtorrent no longer lists which."""
    handle = Handle(range(90), count=97)
    arrival = ArrivalOrder(handle, info_of({("b.mkv",): large()}))
    assert list(arrival.look()) == [(0, 90 * PIECE_BYTES)]
    handle.pieces, handle.queue = set(range(97)), {94, 96}
    assert list(arrival.look()) == []


def test_pieces_come_in_order_only_while_every_peer_is_a_seed():
    handle = Handle()
    arrival = ArrivalOrder(handle, info_of({("b.mkv",): large()}))
    assert IN_ORDER in handle.flags
    for _second in range(2):
        arrival.take_status(peers(seeds=3, others=1), 0)
    assert IN_ORDER not in handle.flags
    arrival.take_status(peers(seeds=3, others=0), 0)
    assert IN_ORDER in handle.flags


def test_a_peer_that_is_only_just_connected_does_not_change_the_order():
    handle = Handle()
    arrival = ArrivalOrder(handle, info_of({("b.mkv",): large()}))
    arrival.take_status(peers(seeds=0, others=1), 0)
    arrival.take_status(peers(seeds=1, others=0), 0)
    arrival.take_status(peers(seeds=1, others=1), 0)
    assert IN_ORDER in handle.flags


def test_a_torrent_that_gets_nothing_is_not_looked_at():
    arrival = ArrivalOrder(Handle(), info_of({("b.mkv",): large()}))
    arrival.take_status(peers(1, 0, done=1), now := 1e9)
    assert arrival.is_moving(now)
    arrival.take_status(peers(1, 0, done=1), now + MOVING_SECONDS)
    assert not arrival.is_moving(now + MOVING_SECONDS)


def test_reported_pieces_are_on_disk(held, tmp_path):
    made = torrent("Film", large(), kind="v1", piece_bytes=PIECE_BYTES)
    folder, sizes = held.folder("7"), []
    # The engine may take a second to notice that bytes arrive, so they take three.
    with seeder(upload_rate_limit=2**25) as seeds:
        seeds.give(made, tmp_path / "given")
        held.add("7", made.magnet(peer=seeds.address))
        while isinstance(event := held.wait(Arrived | Complete, "7"), Arrived):
            sizes.append(event.size_bytes)
            if event.size_bytes:
                with (folder / "0").open("rb") as file:
                    # pytest would take minutes to show how the bytes differ.
                    is_same = file.read(event.size_bytes) == large()[: event.size_bytes]
                    assert is_same
    assert sizes[0] == 0
    assert sizes == sorted(sizes)
    assert len(sizes) > 1
