"""Tags of music: title, artist, and album, whatever a service or a stranger sends."""

import time

import pytest

from tests.cases import each_case
from tests.service.media.samples import short_film
from webui.player.tags import MOST_PIECES

pytestmark = pytest.mark.django_db
TAGS = ("-metadata", "title=Drift Ice", "-metadata", "artist=Ása", "-metadata", "album=Fjord")


def tags_of(person, file):
    return person.client.get(f"/files/file/{file.id}/tags/?in=0")


@pytest.mark.promise("tags of every usual format are read")
@pytest.mark.slow
@each_case(
    ("suffix", "codec"),
    [("mp3", "libmp3lame"), ("flac", "flac"), ("ogg", "libvorbis"), ("m4a", "aac")],
)
def test_tags_of_every_usual_format_are_read(gwen, storage, suffix, codec):
    content = short_film(suffix, "-c:a", codec, *TAGS, source="")
    answer = tags_of(gwen, storage.file(f"one.{suffix}", content))
    assert answer.json() == {"title": "Drift Ice", "artist": "Ása", "album": "Fjord"}
    assert answer["Cache-Control"] == "private, max-age=3600"


def test_tags_of_a_large_file_cost_little(gwen, storage):
    """The tags are at the end of this file, as is common in MP4."""
    content = short_film("m4a", "-c:a", "aac", *TAGS, source="")
    start = int.from_bytes(content[:4])
    padding = (8 * 2**20).to_bytes(4) + b"free" + bytes(8 * 2**20 - 8)
    file = storage.file("large.m4a", content[:start] + padding + content[start:])
    before = len(storage.calls)
    assert tags_of(gwen, file).json()["title"] == "Drift Ice"
    fetched = [path for _method, path in storage.calls[before:] if "folder" not in path]
    assert 1 <= len(fetched) <= MOST_PIECES


HEAD = b"ID3\x04\x00\x00"


@each_case(
    "content",
    [
        b"",
        b"x",
        b"\0" * 5000,
        b"ID3\x04\x00\x00\x7f\x7f\x7f\x7fTIT2\x7f\x7f\x7f\x7f\0\0" + b"x" * 2000,
        HEAD + b"\x00\x00\x0f\x00TIT2\x00\x00\x00\x0c\x00\x00\x03\x00a\x00b\r\n\x07c",
        b"fLaC" + b"\x04\xff\xff\xff" + b"\xff" * 2000,
        b"OggS" + b"\xff" * 3000,
        b"\0\0\0\x08moov" * 300,
    ],
)
def test_hostile_tags_break_nothing(gwen, storage, content):
    for suffix in ("mp3", "flac", "ogg", "m4a", "wav", "aiff"):
        answer = tags_of(gwen, storage.file(f"a.{suffix}", content or b" "))
        assert answer.status_code == 200
        assert all("\0" not in words and len(words) <= 200 for words in answer.json().values())


def frame(name: bytes, content: bytes) -> bytes:
    return name + len(content).to_bytes(4) + b"\0\0" + content


def id3(*frames: bytes) -> bytes:
    content = b"".join(frames)
    sizes = [len(content) >> shift & 127 for shift in (21, 14, 7, 0)]
    return b"ID3\x03\0\0" + bytes(sizes) + content


@pytest.mark.slow
@each_case(
    "content",
    [
        id3(*[frame(b"TXXX", b"\0a\0%d" % number) for number in range(40_000)]),
        id3(frame(b"TIT2", b"\0" + b"a\0" * 290_000)),
        id3(*[frame(b"TPE1", b"\0%d" % number) for number in range(40_000)]),
    ],
)
def test_tags_without_number_cost_no_more_than_a_second(gwen, storage, content):
    file = storage.file("a.mp3", content + b"\xff\xfb\x90\0" * 200)
    gwen.client.get("/")
    start = time.process_time()
    assert tags_of(gwen, file).status_code == 200
    assert time.process_time() - start < 2


def test_a_temporary_failure_does_not_mean_that_a_track_has_no_tags(gwen, storage):
    file = storage.file("a.mp3", id3(frame(b"TIT2", b"\0Tide")))
    gwen.client.get("/")
    storage.fails(f"/rest/file/{file.id}", 503)
    assert tags_of(gwen, file).status_code == 503
    assert "max-age" not in tags_of(gwen, file)["Cache-Control"]


def test_files_that_are_not_music_have_no_tags(gwen, storage):
    assert tags_of(gwen, storage.file("a.txt")).status_code == 404
