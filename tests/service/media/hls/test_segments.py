"""Limits on what a converter may write, in case a hostile media file has taken it over."""

import io

import pytest

from service.media.hls import segments
from service.media.hls.formats import boxes
from service.media.hls.renditions import Rendition, RenditionKind


def test_words_without_end_are_refused(monkeypatch):
    # No setting lowers this limit, and the test would have to make 32 MB.
    monkeypatch.setattr(segments, "MOST_TEXT_BYTES", 1000)
    rendition = Rendition("t2", RenditionKind.TEXT, 2, 60.0)
    (segment,) = segments.read(rendition, 3, io.BytesIO(b"x" * 1000).read)
    assert segment == (3, b"x" * 1000, True)
    with pytest.raises(boxes.Malformed):
        list(segments.read(rendition, 3, io.BytesIO(b"x" * 1001).read))


def test_boxes_that_no_frames_follow_are_refused(monkeypatch):
    # No setting lowers this limit, and boxes of the real size would prove no more.
    monkeypatch.setattr(boxes, "MOST_BOX_BYTES", 1000)
    head = boxes.HEAD.pack(400, b"moof") + bytes(392)
    (piece,) = boxes.pieces(io.BytesIO(head + boxes.HEAD.pack(8, b"mdat")).read)
    assert len(piece) == 408
    with pytest.raises(boxes.Malformed):
        list(boxes.pieces(io.BytesIO(head * 6).read))
