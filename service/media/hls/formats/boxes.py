"""Fragmented MP4, written and read as bytes: what HLS calls segments (ISO/IEC 14496-12).

This never reads files from outside. It makes fragments of samples, and reads what our own
converters write, with a limit on every size.
"""

import io
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Read = Callable[[int], bytes]

MOST_BOX_BYTES = 256 * 2**20
HEAD = struct.Struct(">I4s")
DEFAULT_BASE_IS_MOOF = 0x020000
# The fields of a trun: for the whole box, then for each sample.
DATA_OFFSET, FIRST_FLAGS = 0x000001, 0x000004
DURATIONS, LENGTHS, FLAGS, OFFSETS = 0x000100, 0x000200, 0x000400, 0x000800
TRUN_FLAGS = DATA_OFFSET | DURATIONS | LENGTHS | FLAGS | OFFSETS
SYNC, NO_SYNC = 0x02000000, 0x01010000
TRUN_SAMPLE = struct.Struct(">IIIi")


class Malformed(Exception):  # noqa: N818  Errors are nouns here.
    """Not what our converters write."""


class Sample(NamedTuple):
    """One frame, with times in units of its track."""

    data: bytes
    duration: int
    is_key: bool = True
    composition_offset: int = 0  # from decoding to showing; may be negative


# Reading


def pieces(read: Read) -> Iterator[bytes]:
    """Yield what a player needs first (ftyp and moov), then each fragment. Raises Malformed."""
    gathered = b""
    while head := exactly(read, HEAD.size, may_end=True):
        size, kind = HEAD.unpack(head)
        if not len(head) <= size <= MOST_BOX_BYTES:
            raise Malformed(f"a box of {size} bytes")
        box = head + exactly(read, size - len(head))
        gathered = gathered + box if kind in (b"ftyp", b"moov", b"moof", b"mdat") else gathered
        if len(gathered) > 2 * MOST_BOX_BYTES:
            raise Malformed("boxes that no frames follow")
        if kind in (b"moov", b"mdat"):
            yield gathered
            gathered = b""


def exactly(read: Read, size: int, *, may_end: bool = False) -> bytes:
    """Read so many bytes, or none at the end if it may end here. Raises Malformed."""
    data = bytearray()
    while len(data) < size:
        piece = read(size - len(data))
        if not piece and may_end and not data:
            return b""
        if not piece:
            raise Malformed("it ends in the middle")
        data += piece
    return bytes(data)


def init_of(content: bytes) -> bytes:
    """Return what precedes the first fragment. Raises Malformed."""
    for piece in pieces(io.BytesIO(content).read):
        return piece
    raise Malformed("nothing was written")


def find_box(data: bytes, *path: bytes) -> int:
    """Return where the first box at this path starts. Raises Malformed."""
    start, inside, stop = 0, 0, len(data)
    for kind in path:
        start, stop = _find_inside(data, kind, inside, stop)
        inside = start + HEAD.size
    return start


def _find_inside(data: bytes, kind: bytes, at: int, stop: int) -> tuple[int, int]:
    while at + HEAD.size <= stop:
        size, found_kind = HEAD.unpack_from(data, at)
        if size < HEAD.size or at + size > stop:
            break
        if found_kind == kind:
            return at, at + size
        at += size
    raise Malformed(f"no {kind.decode(errors='replace')}")


def timescale(init: bytes) -> int:
    """Return the units per second of the only track. Raises Malformed."""
    start = find_box(init, b"moov", b"trak", b"mdia", b"mdhd")
    version = init[start + 8]
    (scale,) = struct.unpack_from(">I", init, start + (28 if version else 20))
    if not scale:
        raise Malformed("a timescale of 0")
    return int(scale)


def sequence_of(fragment: bytes) -> int:
    start = find_box(fragment, b"moof", b"mfhd")
    return int(struct.unpack_from(">I", fragment, start + 12)[0])


def decoded_at(fragment: bytes) -> int:
    """Return when the first frame is decoded. Raises Malformed."""
    return int(struct.unpack_from(">Q", fragment, _time_in(fragment))[0])


def _time_in(fragment: bytes) -> int:
    """Return where the fragment has its time."""
    start = find_box(fragment, b"moof", b"traf", b"tfdt")
    if fragment[start + 8] != 1:
        raise Malformed("a time of 32 bits")
    return start + 12


def first_offset(fragment: bytes) -> int:
    """Return the time from the first frame's decoding to its showing."""
    start = find_box(fragment, b"moof", b"traf", b"trun")
    (words,) = struct.unpack_from(">I", fragment, start + 8)
    flags = words & 0xFFFFFF
    if not flags & OFFSETS:
        return 0
    at = start + 16 + 4 * sum(bool(flags & each) for each in (DATA_OFFSET, FIRST_FLAGS))
    at += 4 * sum(bool(flags & each) for each in (DURATIONS, LENGTHS, FLAGS))
    return int(struct.unpack_from(">i", fragment, at)[0])


# Writing


def place_fragment(fragment: bytes, sequence: int, shown_at: int) -> bytes:
    """Return a converter's fragment with its first frame shown at `shown_at`.

    The converter itself counts from where it began.
    """
    data = bytearray(fragment)
    decoded_at = max(0, shown_at - first_offset(fragment))
    mfhd = find_box(fragment, b"moof", b"mfhd")
    struct.pack_into(">I", data, mfhd + 12, sequence)
    struct.pack_into(">Q", data, _time_in(fragment), decoded_at)
    return bytes(data)


def fragment(sequence: int, decoded_at: int, samples: Sequence[Sample]) -> bytes:
    """Return moof and mdat of the only track, which has the number 1."""
    moof = _moof(sequence, decoded_at, samples, 0)
    moof = _moof(sequence, decoded_at, samples, len(moof) + HEAD.size)
    return moof + _box(b"mdat", *(sample.data for sample in samples))


def _moof(sequence: int, decoded_at: int, samples: Sequence[Sample], data_offset: int) -> bytes:
    tfhd = _full_box(b"tfhd", 0, DEFAULT_BASE_IS_MOOF, struct.pack(">I", 1))
    tfdt = _full_box(b"tfdt", 1, 0, struct.pack(">Q", decoded_at))
    head = struct.pack(">Ii", len(samples), data_offset)
    rows = (
        TRUN_SAMPLE.pack(
            each.duration,
            len(each.data),
            SYNC if each.is_key else NO_SYNC,
            each.composition_offset,
        )
        for each in samples
    )
    trun = _full_box(b"trun", 1, TRUN_FLAGS, head, *rows)
    mfhd = _full_box(b"mfhd", 0, 0, struct.pack(">I", sequence))
    return _box(b"moof", mfhd, _box(b"traf", tfhd, tfdt, trun))


def _full_box(kind: bytes, version: int, flags: int, *parts: bytes) -> bytes:
    return _box(kind, struct.pack(">I", version << 24 | flags), *parts)


def _box(kind: bytes, *parts: bytes) -> bytes:
    body = b"".join(parts)
    return HEAD.pack(HEAD.size + len(body), kind) + body
