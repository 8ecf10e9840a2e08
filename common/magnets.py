"""Read the fields and info hashes of a magnet link."""

import base64
import re
from functools import partial

from common.http.forms import read_fields

BTIH_HEX = re.compile(r"urn:btih:([0-9a-f]{40})", re.IGNORECASE)
BTIH_BASE32 = re.compile(r"urn:btih:([a-z2-7]{32})", re.IGNORECASE)
BTMH = re.compile(r"urn:btmh:1220([0-9a-f]{64})", re.IGNORECASE)
SIZE = re.compile(r"[0-9]{1,18}")

Fields = list[tuple[str, str]]


def fields_of(query: str, most: int) -> Fields:
    """Return the fields after `magnet:?`. Raises ValueError if there may be more than `most`.

    Their keys have no number that distinguishes them: `xt.1` is `xt`.
    """
    # If a name was cut within a letter, its other letters stay what they are.
    decode = partial(bytes.decode, errors="replace")
    fields = read_fields(query.encode(errors="replace"), most, decode)
    return [(key.lower().partition(".")[0], value) for key, value in fields if value]


def hashes_of(fields: Fields) -> tuple[str, str]:
    """Return the first hash of BitTorrent v1, 40 digits, and of v2, 64; either may be empty."""
    v1 = v2 = ""
    for topic in (value for key, value in fields if key == "xt"):
        if match := BTIH_HEX.fullmatch(topic):
            v1 = v1 or nonzero_or_empty(match[1].lower())
        elif match := BTIH_BASE32.fullmatch(topic):
            v1 = v1 or nonzero_or_empty(base64.b32decode(match[1].upper()).hex())
        elif match := BTMH.fullmatch(topic):
            v2 = v2 or nonzero_or_empty(match[1].lower())
    return v1, v2


def nonzero_or_empty(digits: str) -> str:
    """Return the digits, or nothing if all are zeros, which the engine takes for no hash."""
    return digits if digits.strip("0") else ""
