"""Uploads from the client to the service."""

import io
from email import message_from_bytes

import pytest

from tests.cases import each_case
from tests.webui.v1.fakes import page, says, service
from webui.v1 import errors
from webui.v1.uploads import Upload, header_name

ADDED = says({"result": True, "user_torrent_id": 5})


class Pipe:
    """A body that can be read once, and records the largest read."""

    def __init__(self, size):
        self.left = size
        self.largest = 0

    def read(self, size):
        self.largest = max(self.largest, size)
        given = min(size, self.left)
        self.left -= given
        return b"x" * given


def parts_of(request):
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + request.content).get_payload()
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True)
        for part in parts
    }


def test_a_file_arrives_whole_with_its_destination():
    fake = service(ADDED)
    content = bytes(range(256)) * 1_000
    client = fake.client(naming="transfer")
    added = client.add_file("a.torrent", io.BytesIO(content), len(content), "9")
    assert added.id == "5"
    assert parts_of(fake.seen[0]) == {"folder_id": b"9", "file": content}
    assert int(fake.seen[0].headers["Content-Length"]) == len(fake.seen[0].content)
    assert "Transfer-Encoding" not in fake.seen[0].headers


def test_a_large_file_is_never_whole_in_memory():
    pipe = Pipe(1024**3)
    upload = Upload("a", pipe, 1024**3, {})
    length = int(upload.headers("file")["Content-Length"])
    assert sum(len(piece) for piece in upload.body("file")) == length
    assert pipe.largest <= 64 * 1024


def test_no_more_is_read_than_announced():
    fake = service(ADDED)
    fake.client(naming="transfer").add_file("a", io.BytesIO(b"12345"), 3)
    assert parts_of(fake.seen[0]) == {"file": b"123"}


def test_a_file_of_unknown_size_is_sent_until_it_ends():
    fake = service(ADDED)
    fake.client(naming="transfer").add_file("a", Pipe(200_000), None)
    assert parts_of(fake.seen[0]) == {"file": b"x" * 200_000}
    assert fake.seen[0].headers["Transfer-Encoding"] == "chunked"
    assert "Content-Length" not in fake.seen[0].headers


def test_a_file_that_ends_early_is_not_uploaded():
    with pytest.raises(EOFError):
        service(ADDED).client(naming="transfer").add_file("a", io.BytesIO(b"1"), 3)


def test_a_stream_that_cannot_be_wound_back_is_sent_once():
    fake = service(page(404), ADDED)
    client = fake.client(naming="torrent")
    with pytest.raises(errors.Unavailable) as raised:
        client.add_file("a", Pipe(3), 3)
    assert raised.value.reason == "cannot_send_again"
    assert len(fake.seen) == 1


@each_case(
    ("name", "sent"),
    [
        ("a.torrent", "a.torrent"),
        ('a"b', "a%22b"),
        ("a\r\nX-Evil: 1", "aX-Evil: 1"),
        ("\x00\x1f\x7f", "file"),
        ("é\u202egpj", "é\u202egpj"),
        ("a\ud800b", "a?b"),
        ("", "file"),
        ("x" * 300 + ".torrent", "x" * 247 + ".torrent"),
        ("é" * 200, "é" * 200),
        ("é" * 300 + ".mkv", "é" * 251 + ".mkv"),
        ("Vol. " + "x" * 300, "Vol. " + "x" * 250),
        ('"' * 255, "%22" * 255),
    ],
)
def test_a_name_cannot_leave_its_place_in_the_header(name, sent):
    assert header_name(name) == sent


def test_text_that_cannot_be_encoded_is_still_sent():
    fake = service(ADDED)
    fake.client(naming="transfer").add_magnet("magnet:?dn=\ud800")
    assert fake.seen[0].content == b"magnet=magnet%3A%3Fdn%3D%3F"
