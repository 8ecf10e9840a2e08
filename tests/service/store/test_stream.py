"""The rest of an object, which the web server takes from the store's socket."""

import os
from contextlib import closing

import pytest

from service.errors import StoreAway
from service.store.objects.listing import key_of
from service.store.objects.reader import FIRST_BLOCK_BYTES, MOST_BLOCK_BYTES, ObjectReader
from service.store.objects.store import ObjectStore, open_bucket
from tests.misbehaving import head, serving
from tests.object_stores import ObjectServer
from tests.service.builders import put

CONTENT = os.urandom(5 * MOST_BLOCK_BYTES + 7)
BLOCK_BYTES = 2**17
# Here the first block of full size ends: before it, the blocks grow.
GROWN_BYTES = 2 * MOST_BLOCK_BYTES - FIRST_BLOCK_BYTES


@pytest.fixture
def bucket(seaweedfs):
    return seaweedfs.bucket("streams")


@pytest.fixture
def objects(bucket, tmp_path):
    with closing(ObjectStore(bucket, tmp_path, 0)) as made:
        yield made


def read_until_rest(reader: ObjectReader, start: int = 0):
    """Read as a response does; return the bytes and what follows on a socket, if anything does."""
    reader.seek(start)
    content = b""
    while piece := reader.read(BLOCK_BYTES):
        content += piece
        if rest := reader.rest(len(CONTENT) - start - len(content)):
            return content, rest
    return content, None


def received(rest):
    content = b""
    while len(content) < rest.size_bytes and (piece := rest.source.recv(BLOCK_BYTES)):
        content += piece
    return content


@pytest.mark.parametrize("start", [0, MOST_BLOCK_BYTES // 3])
def test_a_fast_reader_gets_the_rest_on_a_socket(objects, start):
    stored = put(objects, CONTENT)
    with objects.open(stored.blob) as reader:
        begun, rest = read_until_rest(reader, start)
        assert len(begun) < GROWN_BYTES + MOST_BLOCK_BYTES
        assert begun + received(rest) == CONTENT[start:]


def test_bytes_sent_on_a_socket_are_never_read_again(objects):
    """The server may have taken some of it, and a reader doesn't know how much."""
    stored = put(objects, CONTENT)
    with objects.open(stored.blob) as reader:
        read_until_rest(reader)
        with pytest.raises(StoreAway):
            reader.read(BLOCK_BYTES)


def test_a_reader_that_is_closed_closes_its_connection(objects):
    stored = put(objects, CONTENT)
    with objects.open(stored.blob) as reader:
        _begun, rest = read_until_rest(reader)
    assert rest.source.fileno() == -1


def test_a_store_that_needs_tls_is_read_in_blocks(bucket, objects):
    """Its readers get nothing to sign with: the kernel can't decrypt."""
    stored = put(objects, CONTENT)
    with ObjectReader(open_bucket(bucket), key_of(stored.blob)) as reader:
        assert read_until_rest(reader) == (CONTENT, None)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        head(Content_Length=str(len(CONTENT))),
        head("206 Partial Content", Content_Range="bytes 0-6/7", Content_Length="7"),
        head("503 Slow Down", Content_Length="0"),
    ],
)
def test_a_reader_that_gets_no_stream_reads_on_in_blocks(bucket, objects, answer):
    stored = put(objects, CONTENT)
    with serving(lambda wire: wire.send(answer)) as server:
        url = f"http://127.0.0.1:{server.port}/object?signed"
        with ObjectReader(open_bucket(bucket), key_of(stored.blob), lambda: url) as reader:
            assert read_until_rest(reader) == (CONTENT, None)
        assert len(server.heads) == 1


def test_an_unreachable_store_sends_no_stream(objects, seaweedfs: ObjectServer):
    stored = put(objects, CONTENT)
    with objects.open(stored.blob) as reader:
        while reader.tell() < GROWN_BYTES:
            reader.read(BLOCK_BYTES)
        with seaweedfs.frozen():
            assert reader.rest(MOST_BLOCK_BYTES + 1) is None
        assert reader.read(BLOCK_BYTES) == CONTENT[reader.tell() - BLOCK_BYTES : reader.tell()]
