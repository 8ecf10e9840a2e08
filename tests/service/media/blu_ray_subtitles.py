"""Write subtitles as a Blu-ray has them (PGS): a white box for each cue."""

from collections.abc import Iterator, Sequence
from struct import pack
from typing import NamedTuple

CLOCK = 90_000
COMPOSITION, WINDOW, PALETTE, PICTURE, END = 0x16, 0x17, 0x14, 0x15, 0x80
WHITE = bytes([1, 235, 128, 128, 255])


class Box(NamedTuple):
    left: int
    top: int
    width: int
    height: int


def written(size: tuple[int, int], box: Box, cues: Sequence[tuple[float, float]]) -> bytes:
    """Return a .sup file. It begins with an empty screen, since programs shift the first to 0."""
    return b"".join(
        [
            *shown(0, size, box, is_empty=True),
            *(part for cue in cues for part in both(size, box, cue)),
        ]
    )


def both(size: tuple[int, int], box: Box, cue: tuple[float, float]) -> Iterator[bytes]:
    yield from shown(cue[0], size, box, is_empty=False)
    yield from shown(cue[1], size, box, is_empty=True)


def shown(at: float, size: tuple[int, int], box: Box, *, is_empty: bool) -> Iterator[bytes]:
    place = b"" if is_empty else pack(">HBBHH", 0, 0, 0, box.left, box.top)
    facts = pack(">HHBHBBBB", *size, 0x10, round(at), 0 if is_empty else 0x80, 0, 0, not is_empty)
    yield segment(at, COMPOSITION, facts + place)
    yield segment(at, WINDOW, pack(">BBHHHH", 1, 0, *box))
    if not is_empty:
        row = b"\0" + pack(">HB", 0xC000 | box.width, 1) + b"\0\0"
        data = pack(">HH", box.width, box.height) + row * box.height
        yield segment(at, PALETTE, b"\0\0" + WHITE)
        yield segment(at, PICTURE, pack(">HBB", 0, 0, 0xC0) + len(data).to_bytes(3) + data)
    yield segment(at, END, b"")


def segment(at: float, kind: int, body: bytes) -> bytes:
    return b"PG" + pack(">IIBH", round(at * CLOCK), 0, kind, len(body)) + body
