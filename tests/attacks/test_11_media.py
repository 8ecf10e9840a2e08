"""Row 11: hostile media. At most, each ends the child process that reads it, within the limits, and
Ferry reads the next file as usual. For a playlist that Ferry is asked to play, see
tests/attacks/test_12_streams.py, which has a worker that plays."""

import io
import struct
import tempfile
import zlib

import pytest
from PIL import Image

from service.library import library
from service.media import probing
from service.media.content_folders import Content
from service.media.sandbox import children as children_module
from service.media.sandbox.launcher import Failed
from service.media.work import MediaWork
from tests.service.builders import a_file, alice, put
from tests.service.media.samples import picture, short_film, shown

# Limits CPU time, since the clock would also measure a busy machine.
MOST_SECONDS = 15
# By the clock, a child may take this multiple of its CPU time: only a hang takes ten minutes.
PATIENCE = 40
TOO_LONG = {"it took too long", "it took too much computing"}
SECRET = b"herring-in-the-harbour"


@pytest.fixture
def look(children, monkeypatch):
    """Return a function that has a child read a hostile file within the given time.

    It returns the facts or the reason of the refusal, and checks that a good file is still read.
    """

    # Let only CPU time judge: children are niced, so beside busy processes they get little of it.
    monkeypatch.setattr(children_module, "PATIENCE", PATIENCE)

    def look(content, draws: str = "", seconds: float = MOST_SECONDS) -> dict | str:
        try:
            found = ask_child(children, content, draws, seconds)
        except Failed as failed:
            found = failed.reason
            assert found not in TOO_LONG
        assert found
        assert ask_child(children, picture(), "picture")
        return found

    return look


def ask_child(children, content, draws, seconds=MOST_SECONDS):
    question = {"do": "draw", "kind": draws, "sizes": ["t32"]} if draws else {"do": "probe"}
    with tempfile.TemporaryFile() as medium:
        if isinstance(content, bytes):
            medium.write(content)
            medium.flush()
        else:
            content(medium)
            medium.flush()
        said = children.ask(medium.fileno(), question, seconds)
    return said.files if draws else said.facts


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.ts"
    path.write_bytes(short_film("ts", "-c:v", "mpeg2video") + SECRET)
    return path


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://{0}\n#EXT-X-ENDLIST\n",
        "#EXTM3U\n#EXTINF:2,\nconcat:{0}|{0}\n",
        "#EXTM3U\n#EXTINF:2,\nhttp://127.0.0.1:{1}/a.ts\n",
        "ffconcat version 1.0\nfile {0}\n",
        "<?xml version='1.0'?><MPD><BaseURL>file://{0}</BaseURL></MPD>",
        "v=0\nc=IN IP4 127.0.0.1\nm=video {1} RTP/AVP 96\n",
        ";FFMETADATA1\n",
    ],
)
@pytest.mark.parametrize("mask", [b"", b"\0"])
def test_a_playlist_that_calls_itself_a_film_opens_nothing(playlist, mask, look, secret):
    """A NUL makes it binary, so that ffmpeg has to judge it."""
    content = playlist.format(secret, 9).encode() + mask
    found = look(content)
    assert found == {"kind": "other", "camera": {}, "lengths": []} or found.startswith(
        "it can't be read"
    )
    assert isinstance(look(content, "video"), str)


def test_a_film_that_refers_to_another_file_reveals_nothing_of_it(look, secret):
    """QuickTime's `dref` refers to the data by path."""
    whole = short_film("mov", "-c:v", "mjpeg", sound=False)
    url = b"\0\0\0\x0curl \0\0\0\1"
    assert url in whole
    assert look(whole)["kind"] == "video"
    moov = whole.index(b"moov") - 4
    alias = b"\0\0\0\x0calis\0\0\0\0"
    assert look(whole[:moov] + whole[moov:].replace(url, alias)) != {}


@pytest.mark.promise("a huge picture is refused")
@pytest.mark.slow
def test_a_picture_of_65535_by_65535_is_refused(look):
    content = png(65_535, 65_535, zlib.compress(bytes(1000)))
    assert look(content)["width"] == 65_535
    assert look(content, "picture") == "it has too many pixels"


def test_a_jpeg_that_calls_itself_huge_is_refused(look):
    """65,500 by 65,500, and progressive, so that a decoder would need all of it in memory."""
    content = bytearray(picture(200, 200, progressive=True))
    at = content.index(b"\xff\xc2") + 5
    content[at : at + 4] = struct.pack(">HH", 65_500, 65_500)
    assert isinstance(look(bytes(content), "picture"), str)


@pytest.mark.slow
def test_a_bomb_of_nothing_is_read_within_bounds(look):
    """6,000 by 6,000 pixels of one color in 500 kB, which is allowed, and four times as many."""
    rows = zlib.compressobj(1)
    row = bytes(1 + 6000 * 3)
    packed = b"".join(rows.compress(row) for _ in range(6000)) + rows.flush()
    assert len(packed) < 500_000
    (small,) = look(png(6000, 6000, packed), "picture")
    assert shown(small).size == (32, 32)
    assert look(png(12_000, 12_000, packed), "picture") == "it has too many pixels"


@pytest.mark.slow
def test_a_decompression_bomb_in_picture_text_is_refused(look):
    chunk = chunk_of(b"zTXt", b"a\0\0" + zlib.compress(bytes(2**28)))
    whole = png(100, 100, zlib.compress(bytes(30_100)))
    bomb = whole[:33] + chunk * 20 + whole[33:]
    assert isinstance(look(whole, "picture"), list)
    assert isinstance(look(bomb, "picture"), str)
    profile = chunk_of(b"iCCP", b"a\0\0" + zlib.compress(bytes(2**28)))
    look(whole[:33] + profile + whole[33:], "picture")


def test_only_the_first_frame_of_a_gif_is_read(look):
    first = picture(300, 300, kind="GIF")
    assert first.endswith(b";")
    frame = b"\x21\xf9\x04\0\1\0\0\0," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0"
    content = first[:-1] + frame * 100_000 + b";"
    assert Image.open(io.BytesIO(first[:-1] + frame * 9 + b";")).n_frames == 10
    assert look(content, seconds=1.5)["kind"] == "picture"
    (small,) = look(content, "picture", seconds=1.5)
    assert shown(small).size == (32, 32)


@pytest.mark.slow
@pytest.mark.parametrize("directories", [10, 1_000_000])
def test_only_the_first_directory_of_a_tiff_is_read(directories, look):
    def write(medium):
        medium.write(tiff_of(directories))

    (small,) = look(write, "picture")
    assert shown(small).size == (32, 32)


def test_a_tiff_whose_directories_go_round_ends(look):
    once = tiff_of(1)
    assert look(once[:-4] + struct.pack("<I", 8), "picture")


@pytest.mark.parametrize("tracks", [3, 300, 10_000])
def test_a_film_of_10000_tracks_is_refused(tracks, look):
    found = look(matroska(tracks))
    if tracks == 3:
        assert len(found["probed"]["tracks"]) == 3
    else:
        assert isinstance(found, str)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["ts", "mp3", "mpg"])
def test_a_stream_that_never_ends_is_looked_at_no_longer_than_another(suffix, look):
    """8 GiB, of which all but the beginning is a hole in the file."""
    beginning = short_film(suffix, source="" if suffix == "mp3" else "testsrc2=s=320x240:d=2")

    def write(medium):
        medium.write(beginning * 3)
        medium.truncate(2**33)

    assert look(write)["kind"] == ("audio" if suffix == "mp3" else "video")
    if suffix != "mp3":
        assert shown(look(write, "video")[0]).size == (32, 24)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF", "JPEG2000"])
def test_a_picture_with_8_gib_behind_it_takes_no_memory(kind, look):
    """Some decoders first read the whole file into memory; those refuse it."""

    def write(medium):
        medium.write(picture(kind=kind))
        medium.truncate(2**33)

    found = look(write, "picture")
    assert isinstance(found, list) or "memory" in found


@pytest.mark.slow
def test_random_input_crashes_nothing(look):
    """The beginnings of all kinds of media, followed by noise."""
    heads = [picture(kind=kind)[:64] for kind in ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "TIFF")]
    heads += [
        short_film(suffix)[:200] for suffix in ("mp4", "mkv", "avi", "ts", "flv", "wmv", "ogv")
    ]
    noise = zlib.compress(bytes(range(256)) * 2000, 1) * 20
    for head in heads:
        look(head + noise)
        look(head + noise, "picture")
        look(head + noise, "video")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["-i.mp4", "--help.jpg", "concat:a|b.mp4", "pipe:0.mkv", "%d.png"])
def test_names_are_never_program_arguments(name, library_folder, children):
    file = a_file(alice(), name, blob=put(library_folder, picture()))
    worker = MediaWork(children, lambda: True)
    worker.probe_once()
    worker.stop()
    content = Content(file.sha1, file.size_bytes)
    assert probing.find_media(content).kind == "picture"
    assert content.picture("t32").exists()
    assert library.file(file.account, file.pk).name == name


def png(width: int, height: int, packed: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk_of(*each) for each in chunks)


def chunk_of(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def tiff_of(directories: int) -> bytes:
    """Return one gray square, described by this many directories."""
    pixels = bytes(64 * 64)
    entries = [(256, 64), (257, 64), (258, 8), (259, 1), (262, 1), (273, 0), (277, 1), (278, 64)]
    entries.append((279, len(pixels)))
    length = 2 + 12 * len(entries) + 4
    data_at = 8 + directories * length
    written = bytearray(b"II*\0" + struct.pack("<I", 8))
    values = dict(entries) | {273: data_at}
    packed = b"".join(struct.pack("<HHII", tag, 4, 1, values[tag]) for tag, _value in entries)
    head = struct.pack("<H", len(entries)) + packed
    for number in range(directories):
        following = 8 + (number + 1) * length if number + 1 < directories else 0
        written += head + struct.pack("<I", following)
    return bytes(written) + pixels if directories > 1 else bytes(written[:-4]) + bytes(4) + pixels


def matroska(tracks: int) -> bytes:
    """Return a handwritten file: a header, this many audio tracks, and nothing else."""
    doctype = element(0x4282, b"matroska") + element(0x4287, b"\4") + element(0x4285, b"\2")
    head = element(0x1A45DFA3, doctype)
    described = b"".join(map(track, range(1, tracks + 1)))
    info = element(0x1549A966, element(0x2AD7B1, (1_000_000).to_bytes(3)))
    cluster = element(0x1F43B675, element(0xE7, b"\0") + element(0xA3, b"\x81\0\0\x80" + bytes(64)))
    return head + element(0x18538067, info + element(0x1654AE6B, described) + cluster)


def track(number: int) -> bytes:
    audio = element(0xB5, struct.pack(">d", 8000)) + element(0x9F, b"\1") + element(0x6264, b"\x10")
    facts = element(0xD7, number.to_bytes(2)) + element(0x73C5, number.to_bytes(2))
    facts += element(0x83, b"\2") + element(0x86, b"A_PCM/INT/LIT") + element(0xE1, audio)
    return element(0xAE, facts)


def element(number: int, content: bytes) -> bytes:
    name = number.to_bytes((number.bit_length() + 7) // 8)
    return name + (len(content) | 1 << 56).to_bytes(8) + content
