"""The boxes of MP4 that our own converters write, and others that a hostile film may make them."""

import io
import struct

import pytest

from service.media.hls.formats import boxes
from tests.cases import each_case


def box(kind, *content):
    body = b"".join(content)
    return boxes.HEAD.pack(boxes.HEAD.size + len(body), kind) + body


TIME = box(b"tfdt", b"\1\0\0\0", struct.pack(">Q", 9000))


def fragment(time=TIME, run=bytes(8)):
    return box(b"moof", box(b"traf", time, box(b"trun", run)))


def init(scale):
    return box(b"moov", box(b"trak", box(b"mdia", box(b"mdhd", bytes(12), scale))))


def test_times_are_read():
    assert boxes.timescale(init(struct.pack(">I", 90_000))) == 90_000
    assert boxes.decoded_at(fragment()) == 9000
    assert boxes.first_offset(fragment()) == 0
    flags = struct.pack(">I", boxes.OFFSETS | boxes.DURATIONS)
    run = flags + struct.pack(">IIi", 1, 3003, -1001)
    assert boxes.first_offset(fragment(run=run)) == -1001


@each_case(
    ("read", "content"),
    [
        (boxes.timescale, init(bytes(4))),  # no unit of time
        (boxes.timescale, box(b"moov", box(b"free"))),  # no track
        (boxes.timescale, box(b"moov", boxes.HEAD.pack(7, b"trak"))),  # smaller than its head
        (
            boxes.timescale,
            box(b"moov", boxes.HEAD.pack(400, b"trak")),
        ),  # larger than the box around it
        (boxes.decoded_at, fragment(box(b"tfdt", bytes(8)))),  # a time of 32 bits
        (boxes.init_of, b""),  # nothing
        (boxes.init_of, box(b"free")),  # nothing to play
        (boxes.init_of, box(b"moov", b"content")[:-1]),  # cut off
        (boxes.init_of, boxes.HEAD.pack(7, b"moov")),
        (boxes.init_of, boxes.HEAD.pack(boxes.MOST_BOX_BYTES + 1, b"moov")),
    ],
)
def test_what_our_converters_never_write_is_refused(read, content):
    with pytest.raises(boxes.Malformed):
        read(content)


def test_what_precedes_the_first_fragment_is_returned_without_free_space():
    start = box(b"ftyp", b"isom") + box(b"moov", b"tracks")
    assert boxes.init_of(box(b"free", bytes(8)) + start + fragment()) == start
    assert list(boxes.pieces(io.BytesIO(start + fragment() + box(b"mdat")).read)) == [
        start,
        fragment() + box(b"mdat"),
    ]
