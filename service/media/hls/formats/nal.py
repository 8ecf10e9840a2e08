"""H.264 in streams: units, each preceded by its length or by a start code (Annex B)."""

import re

START_CODE = re.compile(rb"\x00\x00+\x01")
INSTANT, PARAMETERS = 5, 7
LENGTH_BYTES = 4


def length_bytes(extradata: bytes) -> int:
    """Return how many bytes hold a unit's length; 0 if start codes separate the units."""
    is_configured = len(extradata) > 4 and extradata[0] == 1
    return (extradata[4] & 0x03) + 1 if is_configured else 0


def units(data: bytes, length_size: int) -> list[bytes]:
    if not length_size:
        return [unit for unit in START_CODE.split(data) if unit]
    result, at = [], 0
    while at + length_size <= len(data):
        size = int.from_bytes(data[at : at + length_size], "big")
        result.append(data[at + length_size : at + length_size + size])
        at += length_size + size
    return [unit for unit in result if unit]


def is_instant(data: bytes, length_size: int) -> bool:
    """Return whether a decoder can begin here, and no later frame needs an earlier one."""
    return any(unit[0] & 0x1F == INSTANT for unit in units(data, length_size))


def with_lengths(data: bytes) -> bytes:
    """Convert a frame with start codes to lengths, as MP4 stores it."""
    parts = units(data, 0)
    return b"".join(len(unit).to_bytes(LENGTH_BYTES, "big") + unit for unit in parts)


def profile_of(extradata: bytes) -> bytes:
    """Return three bytes: profile, constraints, and level."""
    if length_bytes(extradata):
        return extradata[1:4]
    parameter_sets = (unit for unit in units(extradata, 0) if unit[0] & 0x1F == PARAMETERS)
    return next(parameter_sets, b"\x00\x42\xe0\x1e")[1:4]
