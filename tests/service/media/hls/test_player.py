"""Segments of real films, made by real converters, and decoded as a whole."""

import io
import math
import random
import struct
from fractions import Fraction
from itertools import pairwise
from typing import BinaryIO

import av
import pytest

from service.media.hls import encoder_arguments
from service.media.hls.formats import boxes
from service.media.hls.grid import BEGIN_SECONDS
from service.media.hls.plans import PLAN, VERSION
from service.media.hls.player import LOOK
from service.media.sandbox import launcher
from service.store.blobs import library_store
from tests.service.media import samples
from tests.service.media.samples import AAC, VPX, X264
from tests.service.media.watching import Viewer, decoded_frames, gaps, packets, playing

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# Half of the error in seconds that is allowed at a segment boundary.
CLOSE = 0.025


@pytest.fixture
def player(library_folder, children):
    with playing(children) as player:
        yield player


def shuffled(count: int) -> list[int]:
    order = list(range(count))
    random.Random(count).shuffle(order)
    return order


def assert_whole(viewer: Viewer, name: str, *, seconds: float) -> None:
    """Check a rendition, requested in random order so that converters restart often."""
    rendition = viewer.rendition(name)
    frames = packets(viewer.whole(name, shuffled(rendition.count)))
    assert max(map(abs, gaps(frames))) < CLOSE
    assert abs(float(frames[0].start) - BEGIN_SECONDS) < CLOSE
    assert abs(float(frames[-1].end) - BEGIN_SECONDS - seconds) < 0.15
    assert abs(sum(rendition.durations) - seconds) < 0.15


def test_a_matroska_without_cues_is_copied_too(player):
    source, cues = samples.copied("plain.mkv", samples.film("plain.mp4")), b"\x1c\x53\xbb\x6b"
    live = samples.copied("live.mkv", source, "-live", "1")
    assert cues in source.read_bytes()
    assert cues not in live.read_bytes()
    viewer = Viewer(player, live)
    assert viewer.names()[0] == "vcopy"
    assert_whole(viewer, "vcopy", seconds=20)
    assert decoded_frames(viewer.whole("vcopy")) == 500


@pytest.mark.promise("a film is copied whole", cases=["mp4"])
@pytest.mark.parametrize("ending", ["mp4", "mkv", "ts", "flv", "mov"])
def test_h264_and_aac_are_copied_whole_from(player, ending):
    film = samples.film("plain.mp4")
    if ending != "mp4":
        film = samples.copied(f"plain.{ending}", film)
    viewer = Viewer(player, film)
    if ending in ("ts", "flv"):
        viewer.wait_for_the_cuts()
    assert viewer.names()[0] == "vcopy"
    sound = "a1copy" if "a1copy" in viewer.names() else "a0copy"
    assert_whole(viewer, "vcopy", seconds=20)
    assert_whole(viewer, sound, seconds=20)
    assert decoded_frames(viewer.whole("vcopy")) == 500


SECONDS = 9
STRICT = ("-strict", "-2")
# The container and codecs of each film.
MATRIX = {
    "mp4-hevc-aac": ("mp4", "-c:v", "libx265", "-preset", "ultrafast", *AAC),
    "mkv-hevc-eac3": ("mkv", "-c:v", "libx265", "-preset", "ultrafast", "-c:a", "eac3"),
    "mkv-h264-ac3": ("mkv", *X264, "-c:a", "ac3"),
    "mkv-h264-dts": ("mkv", *X264, "-c:a", "dca", *STRICT),
    "mkv-h264-flac": ("mkv", *X264, "-c:a", "flac"),
    "mkv-h264-mp3": ("mkv", *X264, "-c:a", "libmp3lame"),
    "mp4-h264-mp3": ("mp4", *X264, "-c:a", "libmp3lame"),
    "mkv-h264-opus": ("mkv", *X264, "-c:a", "libopus"),
    "mkv-av1-opus": ("mkv", "-c:v", "libsvtav1", "-preset", "12", "-c:a", "libopus"),
    "webm-vp9-opus": ("webm", "-c:v", "libvpx-vp9", *VPX, "-c:a", "libopus"),
    "webm-vp8-vorbis": ("webm", "-c:v", "libvpx", *VPX, "-c:a", "libvorbis"),
    "avi-xvid-mp3": ("avi", "-c:v", "libxvid", "-c:a", "libmp3lame"),
    "avi-mpeg4-ac3": ("avi", "-c:v", "mpeg4", "-c:a", "ac3"),
    "avi-h264-pcm": ("avi", *X264, "-bf", "0", "-c:a", "pcm_s16le"),
    "ts-mpeg2-mp2": ("ts", "-c:v", "mpeg2video", "-c:a", "mp2"),
    "ts-h264-ac3": ("ts", *X264, "-c:a", "ac3"),
    "mov-prores-pcm": ("mov", "-c:v", "prores_ks", "-c:a", "pcm_s16le"),
    "mov-mjpeg-alac": ("mov", "-c:v", "mjpeg", "-c:a", "alac"),
    "flv-flv1-mp3": ("flv", "-c:v", "flv", "-ar", "44100", "-c:a", "libmp3lame"),
    "wmv-wmv2-wma": ("wmv", "-c:v", "wmv2", "-c:a", "wmav2"),
    "mkv-high10-aac": ("mkv", "-c:v", "libx264", "-pix_fmt", "yuv420p10le", *AAC),
    "mkv-rare-keys": (
        "mkv",
        *X264,
        "-g",
        "1000",
        "-keyint_min",
        "1000",
        "-sc_threshold",
        "0",
        *AAC,
    ),
}
COPIES = {"mkv-h264-ac3", "mkv-h264-dts", "mkv-h264-flac", "mkv-h264-mp3", "mp4-h264-mp3"}
COPIES |= {"mkv-h264-opus", "mkv-rare-keys"}  # so short that it is a single segment
SOUND_COPIES = {"mp4-hevc-aac", "mkv-h264-mp3", "mp4-h264-mp3", "flv-flv1-mp3"}
SOUND_COPIES |= {"mkv-high10-aac", "mkv-rare-keys"}


@pytest.mark.promise(
    "a film is copied, and another encoded", cases=["mkv-h264-opus", "mp4-hevc-aac"]
)
@pytest.mark.parametrize("kind", MATRIX)
def test_any_film_plays_from_its_beginning_to_its_end(player, kind):
    ending, *codecs = MATRIX[kind]
    rate = 25 if "mpeg2video" in codecs else 10  # MPEG-2 has no lower rate.
    film = samples.film(f"{kind}.{ending}", *codecs, seconds=SECONDS, rate=str(rate))
    viewer = Viewer(player, film)
    picture, sound = viewer.names()[:2]
    assert (picture == "vcopy") == (kind in COPIES)
    assert sound.endswith("copy") == (kind in SOUND_COPIES)
    assert_whole(viewer, picture, seconds=SECONDS)
    assert_whole(viewer, sound, seconds=SECONDS)
    assert decoded_frames(viewer.whole(picture)) == pytest.approx(SECONDS * rate, abs=2)
    assert furthest_off(viewer, picture) < 6
    assert 0.9 < loudness(viewer.whole(sound)) / LOUDNESS < 1.1


def furthest_off(viewer: Viewer, name: str) -> float:
    """Return the largest average difference, of 255, between a frame and that of the source."""
    with viewer.source() as source:
        expected = small_pictures(source)
    shown = small_pictures(io.BytesIO(viewer.whole(name)))
    # If the sound starts first, the first frame is shown a little longer.
    return max(
        min(distance(picture, each) for each in shown[number : number + 3])
        for number, picture in list(enumerate(expected))[:-3:5]
    )


def distance(one: bytes, other: bytes) -> float:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


def small_pictures(stream: BinaryIO) -> list[bytes]:
    with av.open(stream) as container:
        return [
            bytes(frame.reformat(width=32, height=32, format="gray").planes[0])
            for frame in container.decode(video=0)
        ]


SOUNDS = {
    "mp3": ("-c:a", "libmp3lame"),
    "m4a": AAC,
    "aac": AAC,
    "flac": ("-c:a", "flac"),
    "ogg": ("-c:a", "libvorbis"),
    "opus": ("-c:a", "libopus"),
    "wav": ("-c:a", "pcm_s16le"),
    "mka": ("-c:a", "ac3"),
}


@pytest.mark.promise("a piece of music plays", cases=["mp3"])
@pytest.mark.parametrize("ending", SOUNDS)
def test_any_sound_plays_from_its_beginning_to_its_end(player, ending):
    codecs = ("-vn", *SOUNDS[ending])
    viewer = Viewer(player, samples.film(f"sound.{ending}", *codecs, seconds=SECONDS))
    (name,) = viewer.names()
    assert name == ("a0copy" if ending in ("mp3", "m4a", "aac") else "a0")
    assert_whole(viewer, name, seconds=SECONDS)
    assert 0.9 < loudness(viewer.whole(name)) / LOUDNESS < 1.1


@pytest.mark.parametrize("rate", ["24000/1001", "30000/1001", "50", "15", "12.5"])
def test_encoded_segments_fit_together_at_any_rate(player, rate):
    name = f"rate-{rate.replace('/', '-')}.mkv"
    codecs = ("-c:v", "mpeg4", "-c:a", "ac3")
    viewer = Viewer(player, samples.film(name, *codecs, seconds=SECONDS, rate=rate))
    assert_whole(viewer, "v480", seconds=SECONDS)
    frames = decoded_frames(viewer.whole("v480"))
    assert frames == pytest.approx(SECONDS * Fraction(rate), abs=1)


def test_a_tone_continues_across_every_boundary(player):
    """Decoded as a whole, it has neither silence nor a click where two runs meet."""
    viewer = Viewer(player, samples.film("tone.mkv", *X264, "-c:a", "ac3", seconds=20))
    tone = samples_of(viewer.whole("a1", shuffled(viewer.rendition("a1").count)))
    steady = tone[RATE // 5 : -RATE // 5]
    highest = max(map(abs, steady))
    # A sine changes no more than this from one sample to the next; a click would.
    steepest = highest * 2 * math.pi * 440 / RATE
    assert max(abs(after - before) for before, after in pairwise(steady)) < 1.3 * steepest
    assert all(max(map(abs, steady[at : at + 480])) > 0.9 * highest
               for at in range(0, len(steady) - 480, 480))  # fmt: skip


RATE = 48_000
# The RMS of ffmpeg's sine, whose amplitude is an eighth of full scale.
LOUDNESS = 0.125 / math.sqrt(2)


def samples_of(stream: bytes) -> list[float]:
    with av.open(io.BytesIO(stream)) as container:
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        frames = [each for frame in container.decode(audio=0) for each in resampler.resample(frame)]
    data = b"".join(bytes(frame.planes[0])[: frame.samples * 4] for frame in frames)
    return list(struct.unpack(f"{len(data) // 4}f", data))


def loudness(stream: bytes) -> float:
    heard = samples_of(stream)[RATE:-RATE]
    return math.sqrt(sum(each * each for each in heard) / len(heard))


def test_a_turned_film_is_shown_upright(player):
    plain = samples.film("lying.mp4", seconds=SECONDS)
    turned = samples.turned("standing.mp4", plain)
    viewer = Viewer(player, turned)
    assert "vcopy" not in viewer.names()
    rendition = viewer.rendition("v480")
    assert (rendition.width, rendition.height) == (180, 320)
    assert size_of(viewer.init("v480") + viewer.segment("v480", 0)) == (180, 320)


def test_interlaced_films_are_combed(player):
    words = ("-c:v", "mpeg2video", "-flags", "+ilme+ildct", "-vf", "setfield=tff", "-c:a", "mp2")
    viewer = Viewer(player, samples.film("woven.ts", *words, seconds=SECONDS))
    assert viewer.rendition("v480").is_interlaced
    assert_whole(viewer, "v480", seconds=SECONDS)


def test_narrow_pixels_are_made_square(player):
    words = ("-c:v", "mpeg2video", "-aspect", "2.21", "-c:a", "mp2")
    viewer = Viewer(player, samples.film("wide.ts", *words, seconds=SECONDS))
    assert viewer.rendition("v480").width == 398


@pytest.mark.parametrize("size", ["322x182", "18x16", "2000x100", "100x2000"])
def test_odd_sizes_are_encoded(player, size):
    name = f"odd-{size}.mkv"
    viewer = Viewer(player, samples.film(name, "-c:v", "mpeg4", *AAC, seconds=2, size=size))
    rendition = viewer.rendition(viewer.names()[0])
    stream = viewer.init(rendition.name) + viewer.segment(rendition.name, 0)
    assert size_of(stream) == (rendition.width, rendition.height)
    assert decoded_frames(stream) == 50


def test_bright_films_are_shown_on_any_screen(player):
    tags = "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc"
    words = ("-c:v", "libx265", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le")
    viewer = Viewer(
        player, samples.film("bright.mkv", *words, "-x265-params", tags, *AAC, seconds=2)
    )
    assert viewer.rendition("v480").hdr == "pq"
    assert decoded_frames(viewer.init("v480") + viewer.segment("v480", 0)) == 50


def test_segments_of_an_older_plan_are_made_again(player):
    viewer = Viewer(player, samples.film("older.avi", "-c:v", "mpeg4", seconds=4))
    made = packets(viewer.init("v480") + viewer.segment("v480", 0))
    plan = viewer.folder / PLAN
    plan.write_text(plan.read_text().replace(f'"version":{VERSION}', f'"version":{VERSION - 1}'))
    (viewer.folder / "v480" / "0.m4s").write_bytes(b"cut in another way")
    assert packets(viewer.init("v480") + viewer.segment("v480", 0)) == made


def test_the_converter_writes_the_files_that_players_need_first(player):
    """Otherwise, players would misread the frames."""
    viewer = Viewer(player, samples.film("first.mkv", "-c:v", "mpeg4", "-c:a", "ac3", seconds=2))
    rendition = viewer.rendition("v480")
    blob = library_store().path(viewer.file.blob)
    argv = encoder_arguments.pictures(rendition, blob, 0)
    written = launcher.run(argv, limits=LOOK, cwd=viewer.content.folder)
    assert boxes.init_of(written) == viewer.init("v480")


def size_of(stream: bytes) -> tuple[int, int]:
    with av.open(io.BytesIO(stream)) as container:
        video = container.streams.video[0]
        return video.width, video.height
