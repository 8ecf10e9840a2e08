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
RANGE = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")


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


def chosen_files(uri: str, count: int) -> set[int]:
    """Return which of `count` files a link chooses, such as `so=0,2,4-6` (BEP 53)."""
    fields = magnets.fields_of(uri.strip()[8:], MOST_FIELDS) if is_magnet(uri) else []
    parts = (part for key, value in fields if key == "so" for part in value.split(","))
    ranges = sorted(
        (int(each[1]), int(each[2] or each[1])) for part in parts if (each := RANGE.fullmatch(part))
    )
    chosen: set[int] = set()
    begin = 0
    # Ranges may overlap ten thousand times.
    for first, last in ranges:
        chosen.update(range(max(begin, first), min(last + 1, count)))
        begin = max(begin, last + 1)
    return chosen


def link(info_hash_v1: str, info_hash_v2: str) -> str:
    topics = [f"xt=urn:btih:{info_hash_v1}"] if info_hash_v1 else []
    topics += [f"xt=urn:btmh:1220{info_hash_v2}"] if info_hash_v2 else []
    return "magnet:?" + "&".join(topics)
