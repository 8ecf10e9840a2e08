"""Read what the service needs from a magnet link before the engine does."""

import re

from common import magnets
from common.magnets import SIZE, hashes_of
from service.errors import BadMagnet
from service.transfers.torrents.facts import TorrentFacts

# A link with 200 trackers has about 12,000 characters.
LONGEST = 64 * 1024
MOST_FIELDS = 1000
CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def is_magnet(text: str) -> bool:
    return text.strip()[:8].lower() == "magnet:?"


def read(uri: str) -> TorrentFacts:
    """Read a magnet link. Raises BadMagnet."""
    uri = uri.strip()
    if not is_magnet(uri) or len(uri) > LONGEST or CONTROL.search(uri):
        raise BadMagnet
    try:
        fields = magnets.fields_of(uri[8:], MOST_FIELDS)
    except ValueError as too_many:
        raise BadMagnet from too_many
    v1, v2 = hashes_of(fields)
    if not v1 and not v2:
        raise BadMagnet
    name = next((value for key, value in fields if key == "dn"), "")
    size = next((value for key, value in fields if key == "xl" and SIZE.fullmatch(value)), "0")
    return TorrentFacts(name, int(size), info_hash_v1=v1, info_hash_v2=v2)


def link(info_hash_v1: str, info_hash_v2: str) -> str:
    topics = [f"xt=urn:btih:{info_hash_v1}"] if info_hash_v1 else []
    topics += [f"xt=urn:btmh:1220{info_hash_v2}"] if info_hash_v2 else []
    return "magnet:?" + "&".join(topics)
