"""Which codecs Ferry reads: those that people have, and no others."""

import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from service.media import formats
from service.media.hls import encoder_arguments
from service.media.sandbox.launcher import Failed
from tests.cases import each_case
from tests.service.media.samples import VPX, short_film

pytestmark = pytest.mark.slow

FAST = ("-preset", "ultrafast")
SILENT = ("-an",)
# The suffix of the file, ffmpeg's arguments, and the name in the refusal.
RARE = [
    ("avi", ("-c:v", "cinepak"), "cinepak"),
    ("avi", ("-c:v", "huffyuv"), "huffyuv"),
    ("avi", ("-c:v", "ffvhuff"), "ffvhuff"),
    ("avi", ("-c:v", "utvideo"), "utvideo"),
    ("avi", ("-c:v", "magicyuv"), "magicyuv"),
    ("avi", ("-c:v", "msvideo1"), "msvideo1"),
    ("avi", ("-c:v", "asv1"), "asv1"),
    ("avi", ("-c:v", "asv2"), "asv2"),
    ("avi", ("-c:v", "zlib"), "zlib"),
    ("avi", ("-c:v", "zmbv"), "zmbv"),
    ("avi", ("-c:v", "jpegls"), "jpegls"),
    ("avi", ("-c:v", "snow", "-strict", "-2"), "snow"),
    ("mov", ("-c:v", "svq1"), "svq1"),
    ("mov", ("-c:v", "rpza"), "rpza"),
    ("mov", ("-c:v", "qtrle"), "qtrle"),
    ("mov", ("-c:v", "hap"), "hap"),
    ("mov", ("-c:v", "cfhd"), "cfhd"),
    ("mov", ("-c:v", "targa"), "targa"),
    ("mov", ("-c:v", "v210"), "v210"),
    ("flv", ("-c:v", "flashsv", *SILENT), "flashsv"),
    ("flv", ("-c:v", "flv1", "-c:a", "nellymoser", "-ar", "44100"), "nellymoser"),
    ("wav", ("-c:a", "adpcm_yamaha"), "adpcm_yamaha"),
    (
        "ts",
        ("-c:v", "mpeg2video", "-c:a", "s302m", "-ar", "48000", "-ac", "2", "-strict", "-2"),
        "s302m",
    ),
]
COMMON = [
    ("mp4", ("-c:v", "libx264", *FAST, "-c:a", "aac")),
    ("mp4", ("-c:v", "libx265", *FAST, "-c:a", "alac")),
    ("mkv", ("-c:v", "libsvtav1", "-preset", "12", "-c:a", "libopus")),
    ("mp4", ("-c:v", "mpeg4", "-c:a", "libmp3lame")),
    ("webm", ("-c:v", "libvpx", *VPX, "-c:a", "libvorbis")),
    ("webm", ("-c:v", "libvpx-vp9", *VPX, "-c:a", "libopus")),
    ("avi", ("-c:v", "libxvid", "-c:a", "libmp3lame")),
    ("avi", ("-c:v", "msmpeg4v2", "-c:a", "adpcm_ms")),
    ("avi", ("-c:v", "msmpeg4", "-c:a", "pcm_s16le")),
    ("avi", ("-c:v", "mjpeg", "-c:a", "pcm_u8")),
    ("mkv", ("-c:v", "ffv1", "-c:a", "flac")),
    ("mkv", ("-c:v", "rawvideo", "-c:a", "pcm_f32le")),
    ("mpg", ("-c:v", "mpeg1video", "-c:a", "mp2")),
    ("ts", ("-c:v", "mpeg2video", "-c:a", "ac3")),
    ("mkv", ("-c:v", "mpeg2video", "-c:a", "eac3")),
    ("mkv", ("-c:v", "libx264", *FAST, "-c:a", "dca", "-ar", "48000", "-strict", "-2")),
    ("mkv", ("-c:v", "libx264", *FAST, "-c:a", "truehd", "-ar", "48000", "-strict", "-2")),
    ("wmv", ("-c:v", "wmv1", "-c:a", "wmav1")),
    ("wmv", ("-c:v", "wmv2", "-c:a", "wmav2")),
    ("flv", ("-c:v", "flv1", "-c:a", "libmp3lame", "-ar", "44100")),
    ("3gp", ("-c:v", "h263", "-s", "176x144", "-c:a", "libopencore_amrnb", "-ar", "8000")),
    ("ogv", ("-c:v", "libtheora", "-c:a", "libvorbis")),
    ("mov", ("-c:v", "prores_ks", "-c:a", "pcm_s24le")),
    ("mov", ("-c:v", "dnxhd", "-profile:v", "dnxhr_lb", "-pix_fmt", "yuv422p", "-c:a", "pcm_alaw")),
    ("mov", ("-c:v", "mjpeg", "-c:a", "adpcm_ima_qt")),
    ("rm", ("-c:v", "rv20", "-s", "176x144", *SILENT)),
    ("mp3", ("-vn", "-c:a", "libmp3lame")),
    ("flac", ("-vn", "-c:a", "flac")),
    ("wv", ("-vn", "-c:a", "wavpack")),
    ("tta", ("-vn", "-c:a", "tta")),
    ("aiff", ("-vn", "-c:a", "pcm_s16be")),
    ("wav", ("-vn", "-c:a", "adpcm_ima_wav")),
]


def test_there_are_enough_of_both():
    assert len(RARE) >= 20
    assert len(COMMON) >= 30


@each_case(("suffix", "options", "name"), RARE)
def test_a_rare_codec_is_refused_by_name(suffix, options, name, probe, tmp_path):
    source = "" if suffix == "wav" else "testsrc2=s=320x240:d=1"
    content = short_film(suffix, *options, source=source)
    with pytest.raises(Failed) as refused:
        probe(content)
    assert refused.value.reason == f"Ferry doesn't read its codec, {name}"
    # Without this answer, ffmpeg itself would refuse.
    refusal = encoded(content, suffix, tmp_path)
    assert refusal.returncode
    assert b"not on whitelist" in refusal.stderr


@each_case(("suffix", "options"), COMMON)
def test_a_common_codec_is_read_and_converted(suffix, options, probe, tmp_path):
    content = short_film(suffix, *options, source="testsrc2=s=320x240:d=1")
    assert probe(content)["kind"] == ("audio" if "-vn" in options else "video")
    assert encoded(content, suffix, tmp_path).returncode == 0


def encoded(content: bytes, suffix: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    path = folder / f"film.{suffix}"
    path.write_bytes(content)
    command = [*encoder_arguments.source(path, Fraction(0)), "-xerror", "-f", "null", "-"]
    return subprocess.run(command, check=False, capture_output=True)


def test_each_decoder_is_named_once():
    names = formats.DECODERS.split(",")
    assert len(names) == len(set(names))
