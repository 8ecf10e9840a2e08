"""Receive the rest of an object on a socket, from which the kernel can pass it on."""

import socket
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 2.5


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
        self._connection = HTTPConnection(host.netloc, timeout=TIMEOUT_SECONDS)
        self._response: HTTPResponse | None = None
        try:
            self._connection.connect()
            # The connection forgets its socket if the store closes after the response.
            self.source: socket.socket = self._connection.sock
            target = f"{host.path}?{host.query}"
            self._connection.request("GET", target, headers={"Range": f"bytes={start}-"})
            self._response = self._connection.getresponse()
            check(self._response, start, size_bytes)
            self.first = self._response.fp.peek()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()
        if self._response is not None:
            self._response.close()


def check(response: HTTPResponse, start: int, size_bytes: int) -> None:
    """Raise HTTPException unless the body has exactly the bytes from `start`."""
    wanted = f"bytes {start}-{size_bytes - 1}/{size_bytes}"
    is_exact = response.status == 206 and response.headers["Content-Range"] == wanted
    if not is_exact or response.chunked or response.length != size_bytes - start:
        raise HTTPException(f"an unusable response of the store, status={response.status}")
