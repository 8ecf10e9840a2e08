"""Read an object in blocks: each is a short request, so a slow reader holds no connection."""

import io
import logging
import os
import socket
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from service.store.objects.failures import away, translate_failures

log = logging.getLogger("ferry.store")

UNSATISFIABLE = "416 Range Not Satisfiable"
# Whole small files, in one request.
FIRST_BLOCK_BYTES = 2**18
# Hundreds of slow readers each keep a block in memory.
MOST_BLOCK_BYTES = 2**21
STREAM_SECONDS = 2.5


class ObjectReader(io.RawIOBase):
    """A file-like reader of one object, whose blocks grow while it is read in order."""

    def __init__(self, store: S3Store, key: str, sign: Callable[[], str] | None = None) -> None:
        """Read the first block, which is all of a small object. Raises NotFound, StoreAway.

        `sign` makes a URL for a plain connection, if the store can be reached without TLS.
        """
        super().__init__()
        self._store = store
        self._key = key
        self._sign = sign
        self._stream: ObjectStream | None = None
        self._is_passed_on = False
        self._at = 0
        self._block_at = 0
        self._block: bytes | memoryview = b""
        self._block_bytes = FIRST_BLOCK_BYTES
        self._size_bytes = 0
        with translate_failures():
            self._begin()

    def _begin(self) -> None:
        try:
            result = obstore.get(self._store, self._key, options={"range": (0, FIRST_BLOCK_BYTES)})
        except BaseError as error:
            if UNSATISFIABLE not in str(error):
                raise
            return  # An empty object has no range.
        self._size_bytes = result.meta["size"]
        self._block = memoryview(result.bytes())

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size_bytes}[whence]
        self._at = max(0, base + position)
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        """Read at most this many bytes; fewer at the end of a block, as from a raw file."""
        if size is None or size < 0:
            return self.readall()
        if not size or self._at >= self._size_bytes:
            return b""
        if not self._block_at <= self._at < self._block_at + len(self._block):
            self._read_block()
        begin = self._at - self._block_at
        piece = bytes(self._block[begin : begin + size])
        self._at += len(piece)
        return piece

    def rest(self, size_bytes: int) -> "ArrivingBytes | None":
        """Return the next bytes as they arrive on a socket, or None if they must be read here.

        A client that has taken blocks of full size, and wants more, is worth a connection.
        """
        if self._at != self._block_at + len(self._block):
            return None
        if self._stream is not None:
            self._is_passed_on = True
            return ArrivingBytes(self._stream.source, size_bytes)
        has_grown = self._block_bytes == MOST_BLOCK_BYTES
        if self._sign is not None and has_grown and size_bytes > MOST_BLOCK_BYTES:
            self._begin_stream(self._sign())
        return None

    def _begin_stream(self, url: str) -> None:
        self._sign = None
        try:
            self._stream = ObjectStream(url, self._at, self._size_bytes)
        except (OSError, HTTPException) as trouble:
            log.debug("no stream of an object: %r", trouble)
            return
        self._block_at, self._block = self._at, memoryview(self._stream.first)

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
        super().close()

    def _read_block(self) -> None:
        if self._is_passed_on:
            raise away("it broke off a stream")
        is_next = self._at == self._block_at + len(self._block)
        grown_bytes = min(2 * self._block_bytes, MOST_BLOCK_BYTES)
        self._block_bytes = grown_bytes if is_next else FIRST_BLOCK_BYTES
        length = min(self._block_bytes, self._size_bytes - self._at)
        with translate_failures():
            block = obstore.get_range(self._store, self._key, start=self._at, length=length)
        self._block_at, self._block = self._at, memoryview(block)


# The rest of an object on a socket, from which the kernel can pass it on


class ArrivingBytes(NamedTuple):
    """Bytes that are still unread on their socket."""

    source: socket.socket
    size_bytes: int


class ObjectStream:
    """A store's response with all of an object from `start`.

    Its first bytes have been read, together with its headers; the others are on `source`.
    """

    def __init__(self, url: str, start: int, size_bytes: int) -> None:
        """Request the bytes. Raises OSError, HTTPException."""
        host = urlsplit(url)
        self._connection = HTTPConnection(host.netloc, timeout=STREAM_SECONDS)
        self._response: HTTPResponse | None = None
        try:
            self._connection.connect()
            # The connection forgets its socket if the store closes after the response.
            self.source: socket.socket = self._connection.sock
            target = f"{host.path}?{host.query}"
            self._connection.request("GET", target, headers={"Range": f"bytes={start}-"})
            self._response = self._connection.getresponse()
            check_range(self._response, start, size_bytes)
            self.first = self._response.fp.peek()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()
        if self._response is not None:
            self._response.close()


def check_range(response: HTTPResponse, start: int, size_bytes: int) -> None:
    """Raise HTTPException unless the body has exactly the bytes from `start`."""
    wanted = f"bytes {start}-{size_bytes - 1}/{size_bytes}"
    is_exact = response.status == 206 and response.headers["Content-Range"] == wanted
    if not is_exact or response.chunked or response.length != size_bytes - start:
        raise HTTPException(f"an unusable response of the store, status={response.status}")
