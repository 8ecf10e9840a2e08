"""Read what the service needs from a magnet link before the engine does."""

import re
from dataclasses import dataclass

from common import magnets
from common.magnets import SIZE, hashes_of
from service.errors import BadMagnet

# A link with 200 trackers has about 12,000 characters.
LONGEST = 64 * 1024
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Magnet:
    info_hash_v1: str  # 40 hex digits, or empty
    info_hash_v2: str  # 64 hex digits, or empty
    name: str  # as sent; empty if there was none
    size_bytes: int  # 0: not known


def is_magnet(text: str) -> bool:
    return text.strip()[:8].lower() == "magnet:?"


def read(uri: str) -> Magnet:
    """Read a magnet link. Raises BadMagnet."""
    uri = uri.strip()
    if not is_magnet(uri) or len(uri) > LONGEST or CONTROL.search(uri):
        raise BadMagnet
    try:
        fields = magnets.fields_of(uri[8:])
    except ValueError as too_many:
        raise BadMagnet from too_many
    v1, v2 = hashes_of(fields)
    if not v1 and not v2:
        raise BadMagnet
    name = next((value for key, value in fields if key == "dn"), "")
    size = next((value for key, value in fields if key == "xl" and SIZE.fullmatch(value)), "0")
    return Magnet(v1, v2, name, int(size))


def link(info_hash_v1: str, info_hash_v2: str) -> str:
    topics = [f"xt=urn:btih:{info_hash_v1}"] if info_hash_v1 else []
    topics += [f"xt=urn:btmh:1220{info_hash_v2}"] if info_hash_v2 else []
    return "magnet:?" + "&".join(topics)
