"""AAC as an encoder writes it to a pipe: frames, each with a header that says where it ends."""

from collections.abc import Callable, Iterator

HEADER_BYTES = 7
SYNC = 0xFFF


class Malformed(Exception):  # noqa: N818  Errors are nouns here.
    """Not AAC that our encoder writes."""


def frames(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """Yield frames without their headers, as MP4 stores them."""
    while header := _up_to(read, HEADER_BYTES):
        if len(header) < HEADER_BYTES or header[0] << 4 | header[1] >> 4 != SYNC:
            raise Malformed
        size = (header[3] & 0x03) << 11 | header[4] << 3 | header[5] >> 5
        has_checksum = not header[1] & 0x01
        body = _up_to(read, size - HEADER_BYTES)
        if len(body) != size - HEADER_BYTES:
            raise Malformed
        yield body[2:] if has_checksum else body


def config_of(header: bytes) -> bytes:
    """Return what MP4 stores once for all frames (AudioSpecificConfig), from one frame's header."""
    kind = (header[2] >> 6) + 1
    rate = header[2] >> 2 & 0x0F
    channels = (header[2] & 0x01) << 2 | header[3] >> 6
    return bytes([kind << 3 | rate >> 1, (rate & 1) << 7 | channels << 3])


def _up_to(read: Callable[[int], bytes], size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := read(size - len(data))):
        data += piece
    return data
