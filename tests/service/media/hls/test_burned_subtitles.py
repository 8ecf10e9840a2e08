"""Subtitles that are pictures, drawn into the pictures of a film."""

import io
from functools import cache
from pathlib import Path

import av
import pytest

from service.media.hls import playlists
from service.media.hls.grid import BEGIN_SECONDS
from tests.service.media import blu_ray_subtitles, samples
from tests.service.media.blu_ray_subtitles import Box
from tests.service.media.watching import Viewer, playing

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CUES = ((3.0, 7.0), (9.0, 13.0), (15.0, 19.0))
BOX = Box(660, 900, 600, 90)
# ffmpeg reads pictures some frames ahead of subtitles, so that these begin that much later.
CLOSE_SECONDS = 0.2
# Track 1 is that of a Blu-ray, and track 2 that of a DVD.
TRACKS = {1: "hdmv_pgs_subtitle", 2: "dvd_subtitle"}


@pytest.fixture
def player(library_folder, children):
    with playing(children) as player:
        yield player


@cache
def film(size: str = "320x180") -> Path:
    words, path = samples.own_place("words.sup"), samples.own_place("burned.mkv")
    words.write_bytes(blu_ray_subtitles.written((1920, 1080), BOX, CUES))
    samples.run(
        *("-f", "lavfi", "-i", f"color=c=blue:s={size}:r=25:d=20"),
        *("-fix_sub_duration", "-f", "sup", "-i", str(words)),
        *("-map", "0", "-map", "1", "-map", "1"),
        *(*samples.X264, "-g", "50", "-c:s:0", "copy", "-c:s:1", "dvdsub"),
        *("-metadata:s:s:0", "language=eng", "-metadata:s:s:1", "language=ger", str(path)),
    )
    return path


@pytest.mark.promise("subtitles that are pictures are burned in", cases=["1"])
@pytest.mark.parametrize("track", TRACKS)
def test_a_picture_differs_only_where_and_while_subtitles_are_shown(player, track):
    viewer = Viewer(player, film())
    assert viewer.names() == ["vcopy"]
    name = f"v480s{track}"
    # A run that starts at the sixth segment begins while a cue is shown.
    for number in (5, 1, 0, 9):
        segment = viewer.init(name) + viewer.segment(name, number)
        frames = whites(segment)
        assert len(frames) == 50
        for at, box in frames:
            if box is not None:
                assert box == pytest.approx((110, 150, 100, 15), abs=2), (number, at)
            edges = [abs(at - edge) for cue in CUES for edge in cue]
            if min(edges) > CLOSE_SECONDS:
                is_shown = any(begin < at < end for begin, end in CUES)
                assert (box is not None) == is_shown, (number, at)


def whites(stream: bytes) -> list[tuple[float, Box | None]]:
    """Return when each frame is shown, and the box of all that isn't blue in it."""
    with av.open(io.BytesIO(stream)) as container:
        return [
            (float(frame.pts * frame.time_base) - BEGIN_SECONDS, white_box(frame))
            for frame in container.decode(video=0)
        ]


def white_box(frame: av.VideoFrame) -> Box | None:
    bright = frame.to_image().convert("L").point(lambda value: 255 * (value > 128))
    if (found := bright.getbbox()) is None:
        return None
    left, top, right, bottom = found
    return Box(left, top, right - left, bottom - top)


def test_subtitles_of_a_blu_ray_keep_their_shape_and_stay_inside(player):
    """A film without the black bars of its Blu-ray is lower than its subtitles' screen."""
    viewer = Viewer(player, film("320x134"))
    boxes = [
        dict(whites(viewer.init(name) + viewer.segment(name, 2)))[4.0]
        for name in ("v480s1", "v480s2")
    ]
    assert boxes == [pytest.approx(box, abs=2) for box in ((123, 112, 74, 11), (110, 112, 100, 11))]


def test_a_master_playlist_lists_pictures_with_these_subtitles_alone(player):
    plan = Viewer(player, film()).plan
    assert [(each.track, each.codec) for each in plan.hidden] == list(TRACKS.items())
    lines = playlists.master(plan, 2).splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["v480s2/index.m3u8"]
    assert 'CODECS="avc1.64001e"' in lines[-2]
    assert plan.pictures_with(7) == []
    assert plan.rendition("v480s7") is None
