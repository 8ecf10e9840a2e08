"""AAC as an encoder writes it to a pipe: frames, each with a header that says where it ends."""

from collections.abc import Iterator

from service.media.hls.formats.boxes import Malformed, Read, exactly

HEADER_BYTES = 7
SYNC = 0xFFF


def frames(read: Read) -> Iterator[bytes]:
    """Yield frames without their headers, as MP4 stores them. Raises Malformed."""
    while header := exactly(read, HEADER_BYTES, may_end=True):
        size = (header[3] & 0x03) << 11 | header[4] << 3 | header[5] >> 5
        if header[0] << 4 | header[1] >> 4 != SYNC or size < HEADER_BYTES:
            raise Malformed
        has_checksum = not header[1] & 0x01
        body = exactly(read, size - HEADER_BYTES)
        yield body[2:] if has_checksum else body


def config_of(header: bytes) -> bytes:
    """Return what MP4 stores once for all frames (AudioSpecificConfig), from one frame's header."""
    kind = (header[2] >> 6) + 1
    rate = header[2] >> 2 & 0x0F
    channels = (header[2] & 0x01) << 2 | header[3] >> 6
    return bytes([kind << 3 | rate >> 1, (rate & 1) << 7 | channels << 3])
