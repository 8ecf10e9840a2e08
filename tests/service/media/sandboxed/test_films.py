import json
from contextlib import suppress

import pytest
from msgspec import convert, to_builtins

from service.media.probe import Probed, TrackKind
from service.media.sandbox.launcher import Failed
from tests.cases import each_case
from tests.service.media.samples import VPX, picture, short_film, shown, written


@pytest.mark.promise("films of every kind are recognized")
@pytest.mark.slow
@each_case(
    ("suffix", "options", "codecs"),
    [
        ("mp4", ("-c:v", "libx264", "-c:a", "aac"), ["h264", "aac"]),
        ("mkv", ("-c:v", "libx265", "-preset", "ultrafast", "-c:a", "libopus"), ["hevc", "opus"]),
        ("webm", ("-c:v", "libvpx-vp9", *VPX, "-c:a", "libvorbis"), ["vp9", "vorbis"]),
        ("avi", ("-c:v", "mpeg4", "-c:a", "libmp3lame"), ["mpeg4", "mp3"]),
        ("ts", ("-c:v", "mpeg2video", "-c:a", "ac3"), ["mpeg2video", "ac3"]),
        ("mov", ("-c:v", "mjpeg", "-c:a", "pcm_s16le"), ["mjpeg", "pcm_s16le"]),
        ("flv", ("-c:v", "flv1", "-c:a", "libmp3lame", "-ar", "44100"), ["flv1", "mp3"]),
        ("wmv", ("-c:v", "wmv2", "-c:a", "wmav2"), ["wmv2", "wmav2"]),
        ("ogv", ("-c:v", "libtheora", "-c:a", "libvorbis"), ["theora", "vorbis"]),
        ("mpg", ("-c:v", "mpeg1video", "-c:a", "mp2"), ["mpeg1video", "mp2"]),
    ],
)
def test_films_of_every_kind_are_recognized_and_show_a_frame(suffix, options, codecs, probe, draw):
    content = short_film(suffix, *options)
    facts = probe(content)
    assert (facts["kind"], facts["width"], facts["height"]) == ("video", 320, 240)
    assert 1500 < facts["duration_ms"] < 2800
    probed = convert(facts["probed"], Probed)
    assert sorted(track.codec for track in probed.tracks) == sorted(codecs)
    (small,) = draw(content, "t32", kind="video")
    assert shown(small).size == (32, 24)


@each_case(
    ("suffix", "codec"),
    [("mp3", "libmp3lame"), ("flac", "flac"), ("ogg", "libvorbis"), ("m4a", "aac"), ("wav", "")],
)
def test_audio_is_recognized(suffix, codec, probe):
    facts = probe(short_film(suffix, *(("-c:a", codec) if codec else ()), source=""))
    assert (facts["kind"], facts["has_picture"]) == ("audio", False)
    assert 1900 < facts["duration_ms"] < 2200
    (track,) = convert(facts["probed"], Probed).of_kind(TrackKind.AUDIO)
    assert (track.channels, track.sample_rate) == (1, 44100)


@each_case(
    ("suffix", "kind"),
    [("mp3", kind) for kind in ("JPEG", "PNG", "BMP", "GIF", "WEBP", "TIFF")] + [("m4a", "BMP")],
)
def test_a_cover_is_the_picture_of_audio(suffix, kind, tmp_path, probe, draw):
    cover = tmp_path / f"cover.{kind.lower()}"
    cover.write_bytes(picture(600, 600, kind=kind))
    options = ("-i", str(cover), "-map", "0", "-map", "1", "-c:v", "copy")
    content = short_film(suffix, *options, "-disposition:v", "attached_pic", source="")
    facts = probe(content)
    assert (facts["kind"], facts["has_picture"]) == ("audio", True)
    (small,) = draw(content, kind="audio")
    assert shown(small).size == (220, 220)
    assert shown(small).getpixel((20, 20))[0] > 150


def test_audio_without_a_cover_has_no_picture(draw):
    with pytest.raises(Failed, match="no picture"):
        draw(short_film("mp3", source=""), kind="audio")


def test_tracks_carry_their_languages_and_titles(tmp_path, probe):
    (tmp_path / "words.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nAhoy\n")
    options = (
        "-i",
        str(tmp_path / "words.srt"),
        "-map",
        "0",
        "-map",
        "1",
        "-map",
        "1",
        "-map",
        "2",
    )
    options += ("-metadata:s:a:0", "language=ger", "-metadata:s:a:0", "title=Deutsch")
    options += ("-metadata:s:a:1", "language=fre", "-metadata:s:s:0", "language=eng")
    probed = convert(probe(short_film("mkv", *options, "-c:s", "srt"))["probed"], Probed)
    first, second = probed.of_kind(TrackKind.AUDIO)
    assert (first.language, first.title, second.language) == ("ger", "Deutsch", "fre")
    (words,) = probed.of_kind(TrackKind.SUBTITLE)
    assert (words.language, words.codec, words.is_text) == ("eng", "subrip", True)


def test_a_saved_probe_reads_back_the_same(probe):
    kept = probe(short_film("mp4"))["probed"]
    assert json.loads(json.dumps(to_builtins(convert(kept, Probed)))) == kept


def test_a_rotation_is_applied(tmp_path, probe, draw):
    flat = tmp_path / "flat.mp4"
    flat.write_bytes(short_film("mp4", source="testsrc2=s=320x240:d=1", sound=False))
    turned = copied("-display_rotation", "-90", "-i", str(flat))
    facts = probe(turned)
    assert (facts["width"], facts["height"]) == (240, 320)
    (track,) = convert(facts["probed"], Probed).of_kind(TrackKind.VIDEO)
    assert (track.width, track.height, track.rotation_degrees) == (320, 240, 90)
    assert shown(draw(turned, kind="video")[0]).size == (165, 220)


def test_pixels_that_are_no_squares_are_stretched(draw):
    content = short_film("mkv", "-vf", "setsar=2", "-c:v", "libx264", sound=False)
    assert shown(draw(content, kind="video")[0]).size == (220, 82)


def test_interlaced_video_is_recognized(probe):
    options = ("-vf", "setfield=tff", "-c:v", "mpeg2video", "-flags", "+ilme+ildct")
    (track,) = convert(probe(short_film("ts", *options, sound=False))["probed"], Probed).tracks
    assert track.is_interlaced


def test_a_film_that_starts_dark_shows_a_later_frame(draw):
    dark, bright = "color=black:s=320x240:d=6[a]", "color=0xcc8822:s=320x240:d=2,noise=alls=80[b]"
    source = f"{dark};{bright};[a][b]concat"
    content = short_film("mp4", "-c:v", "libx264", "-g", "25", source=source, sound=False)
    (small,) = draw(content, kind="video")
    assert sum(shown(small).resize((1, 1)).getpixel((0, 0))) > 200


def test_a_film_of_nothing_but_darkness_is_shown_as_it_is(draw):
    content = short_film("mp4", source="color=black:s=320x240:d=2", sound=False)
    assert shown(draw(content, kind="video")[0]).size == (220, 165)


@pytest.mark.slow
@each_case("suffix", ["mp4", "mkv", "avi", "ts", "mp3", "flac"])
def test_a_truncated_film_does_not_end_the_child(suffix, probe, draw, child_processes):
    is_sound = suffix in ("mp3", "flac")
    content = short_film(suffix, source="" if is_sound else "testsrc2=s=320x240:d=2")
    assert probe(content)["kind"] == ("audio" if is_sound else "video")
    before = child_processes()
    for cut in (10, 100, 1000, len(content) // 2):
        with suppress(Failed):
            if probe(content[:cut]).get("has_picture"):
                draw(content[:cut], kind="video")
    assert child_processes() == before


CHAPTERS = b""";FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=900
title=Ebb & flood
[CHAPTER]
TIMEBASE=1/1000
START=900
END=2000
"""


@each_case("suffix", ["mkv", "mp4"])
def test_chapters_are_read_with_their_titles(suffix, ask, tmp_path):
    names = tmp_path / "chapters.txt"
    names.write_bytes(CHAPTERS)
    film = short_film(suffix, "-i", str(names), "-map_chapters", "2", "-map", "0", "-map", "1")
    assert ask(film, do="chapters").facts["chapters"] == [
        {"start": 0.0, "title": "Ebb & flood"},
        {"start": 0.9, "title": ""},
    ]


def test_a_film_without_chapters_has_none(ask):
    assert ask(short_film("mp4"), do="chapters").facts["chapters"] == []


def test_text_and_archives_are_no_media(probe):
    for content in (
        b"",
        b"words",
        b"PK\3\4" + bytes(99),
    ):
        assert probe(content) == {"kind": "other", "camera": {}, "lengths": []}


def copied(*source: str) -> bytes:
    return written("mp4", *source, "-c", "copy")
