"""Follow how much of a torrent has arrived in order, so that the worker can hash it meanwhile."""

import time
from collections.abc import Iterator
from typing import Any

import libtorrent as lt

# A smaller file is hashed quickly at the end, and isn't worth an event.
STEP_BYTES = 2**25
# Each piece takes a call to libtorrent's thread.
MOST_PIECES = 256
MOVING_SECONDS = 2.0
UNWRITTEN = lt.file_storage.flag_pad_file | lt.file_storage.flag_symlink


class ArrivalOrder:
    """The pieces of a new torrent, downloaded in order while every peer is a seed.

    Among peers that have everything, the order is free. With others, libtorrent downloads the
    rarest pieces first, as swarms need.
    """

    def __init__(self, handle: Any, torrent: Any) -> None:
        self._handle = handle
        self._piece_bytes = torrent.piece_length()
        self._pieces = torrent.num_pieces()
        self._files = large_files(torrent.layout())
        self._count = 0  # of pieces that have arrived in order
        self._told_bytes = 0
        self._done_bytes = 0
        self._moving_until = time.monotonic() + MOVING_SECONDS
        self._has_others = False
        self._is_in_order = False
        self._set_order(is_in_order=True)

    def is_moving(self, now: float) -> bool:
        return now < self._moving_until

    def take_status(self, status: Any, now: float) -> None:
        if status.total_done > self._done_bytes:
            self._moving_until = now + MOVING_SECONDS
        self._done_bytes = status.total_done
        # A peer that has only just connected hasn't said yet that it is a seed.
        had_others, self._has_others = self._has_others, status.num_peers > status.num_seeds
        self._set_order(is_in_order=not (had_others and self._has_others))

    def look(self) -> Iterator[tuple[int, int]]:
        """Yield the index of each large file with news, and how much of it has arrived in order.

        libtorrent has a piece as soon as its hash is right. Until it is written, it is in the queue
        as well. Once libtorrent has every piece, the queue is empty and says nothing: Complete
        follows when all are written.
        """
        passed = self._count
        most = min(passed + MOST_PIECES, self._pieces)
        while passed < most and self._handle.have_piece(passed):
            passed += 1
        queued = {each["piece_index"] for each in self._handle.get_download_queue()}
        if self._handle.status(0).is_seeding:
            return
        self._count = next((at for at in range(self._count, passed) if at in queued), passed)
        arrived_bytes = self._count * self._piece_bytes
        while self._files:
            index, start, size_bytes = self._files[0]
            if arrived_bytes < start + size_bytes:
                break
            yield index, size_bytes
            del self._files[0]
        if self._files and arrived_bytes - max(start, self._told_bytes) >= STEP_BYTES:
            self._told_bytes = arrived_bytes
            yield index, arrived_bytes - start

    def _set_order(self, *, is_in_order: bool) -> None:
        if is_in_order != self._is_in_order:
            self._is_in_order = is_in_order
            change = self._handle.set_flags if is_in_order else self._handle.unset_flags
            change(lt.torrent_flags.sequential_download)


def large_files(layout: Any) -> list[tuple[int, int, int]]:
    """Return the index, offset, and size of each large file that is written."""
    return [
        (index, layout.file_offset(index), layout.file_size(index))
        for index in range(layout.num_files())
        if layout.file_size(index) >= STEP_BYTES and not layout.file_flags(index) & UNWRITTEN
    ]
