"""What somebody pasted, line by line: magnet links, web addresses, and what is neither.

Nothing here is trusted and nothing is fetched. A line of prose with a link in it counts as the
link; names are kept as they came, since showing them safely is the pages' work.
"""

import base64
import re
from dataclasses import dataclass
from itertools import islice
from urllib.parse import quote, unquote, urlsplit

from webui.http import form_fields

MOST_LINES = 10_000
MOST_BYTES = 10 * 2**20
MOST_TRACKERS = 100
LONGEST_MAGNET = 60_000  # Services read some 64 KiB of one.
LONGEST_ADDRESS = 8_000
LONGEST_NAME = 1_024
MOST_FIELDS = 20_000

LINK = re.compile(r"(?<![^\s<>\"'(\[{])(?=(?:magnet:\?|https?://)\S)", re.IGNORECASE)
BTIH_HEX = re.compile(r"urn:btih:([0-9a-f]{40})", re.IGNORECASE)
BTIH_BASE32 = re.compile(r"urn:btih:([a-z2-7]{32})", re.IGNORECASE)
BTMH = re.compile(r"urn:btmh:1220([0-9a-f]{64})", re.IGNORECASE)
BARE_HASH = re.compile(r"[0-9a-fA-F]{40}")
SIZE = re.compile(r"[0-9]{1,18}")
UNSEEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
WRAPPED = re.compile(r"""[\s<>"'`]""")
TRAILING = tuple(".,;:!?)]}")


@dataclass(frozen=True)
class MagnetItem:
    """`uri` is what is sent: without the trackers beyond those that anybody needs."""

    name: str
    info_hash: str
    uri: str
    size_bytes: int | None
    tracker_count: int
    line: str


@dataclass(frozen=True)
class AddressItem:
    url: str
    name: str
    line: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True)
class UnreadableItem:
    """`why` is a word that pages have a sentence for."""

    line: str
    why: str


Item = MagnetItem | AddressItem | UnreadableItem


@dataclass(frozen=True)
class Intake:
    """`rest`: the lines beyond those that are taken at once, as they came."""

    items: list[Item]
    rest: str


def read(text: str) -> list[Item]:
    return taken(text).items


def taken(text: str, most_lines: int = MOST_LINES) -> Intake:
    """Equal ones count once. Bounded by lines; whoever receives the text bounds its bytes."""
    lines = (line.strip() for line in re.split(r"\r\n|\r|\n", text) if line.strip())
    pieces = (piece.strip() for line in islice(lines, most_lines) for piece in pieces_of(line))
    found: dict[str, Item] = {}
    for item in map(item_of, islice(pieces, most_lines)):
        found.setdefault(key_of(item), item)
    return Intake(list(found.values()), "\n".join([*pieces, *lines]))


def key_of(item: Item) -> str:
    if isinstance(item, MagnetItem):
        return item.info_hash
    return item.url if isinstance(item, AddressItem) else item.line


def pieces_of(line: str) -> list[str]:
    """A line may hold several links, and words before them."""
    before, *links = LINK.split(line)
    return links or [before]


def item_of(piece: str) -> Item:
    if LINK.match(piece):
        return magnet(piece) if piece[:7].lower() == "magnet:" else address(piece)
    if BARE_HASH.fullmatch(piece):
        return magnet(f"magnet:?xt=urn:btih:{piece}", piece)
    return UnreadableItem(piece, why_no_link(piece))


def why_no_link(line: str) -> str:
    if UNSEEN.search(line):
        return "control_characters"
    if line[:7].lower() == "magnet:":
        return "no_hash"
    return "other_scheme" if re.match(r"[a-z][a-z0-9+.-]*:\S", line, re.IGNORECASE) else "no_link"


# Magnets


def magnet(link: str, line: str = "") -> MagnetItem | UnreadableItem:
    """Names with bare spaces are common, so a magnet ends only where its line or another link
    does; quotes and brackets around it are dropped."""
    line = line or link
    if UNSEEN.search(link):
        return UnreadableItem(line, "control_characters")
    link = re.sub(r"\s", "%20", re.split(r"[<>\"]", link, maxsplit=1)[0].strip())
    told = fields_of(link)
    info_hash = hash_of(told)
    if not info_hash:
        return UnreadableItem(line, "no_hash")
    uri = slimmed(link)
    if len(uri) > LONGEST_MAGNET:
        return UnreadableItem(line, "too_long")
    sizes = [int(value) for key, value in told if key == "xl" and SIZE.fullmatch(value)]
    name = next((value for key, value in told if key == "dn"), "").replace("\x00", "").strip()
    return MagnetItem(
        name=name[:LONGEST_NAME] or info_hash,
        info_hash=info_hash,
        uri=uri,
        size_bytes=next((size for size in sizes if size), None),
        tracker_count=sum(key == "tr" for key, _value in told),
        line=line,
    )


def fields_of(uri: str) -> list[tuple[str, str]]:
    """Keys without the number that tells several of a kind apart: `xt.1` is `xt`."""
    pairs = uri.partition("?")[2].replace("&amp;", "&")
    try:
        found = list(form_fields.fields_of(pairs.encode(errors="replace"), MOST_FIELDS))
    except ValueError:
        return []
    return [(key.lower().partition(".")[0], value) for key, value in found if value]


def hash_of(told: list[tuple[str, str]]) -> str:
    """As v1 spells it, in 40 digits: the older hash where there is one."""
    found = {"v1": "", "v2": ""}
    for topic in (value for key, value in told if key == "xt"):
        if match := BTIH_HEX.fullmatch(topic):
            found["v1"] = found["v1"] or match[1].lower()
        elif match := BTIH_BASE32.fullmatch(topic):
            found["v1"] = found["v1"] or base64.b32decode(match[1].upper()).hex()
        elif match := BTMH.fullmatch(topic):
            found["v2"] = found["v2"] or match[1].lower()[:40]
    return found["v1"] or found["v2"]


def slimmed(uri: str) -> str:
    """Ten thousand trackers are somebody's joke, and no service reads them all."""
    kept, trackers = [], 0
    for field in uri.partition("?")[2].replace("&amp;", "&").split("&"):
        trackers += field[:3].lower() in ("tr=", "tr.")
        if trackers <= MOST_TRACKERS or field[:3].lower() not in ("tr=", "tr."):
            kept.append(field)
    return "magnet:?" + "&".join(kept)


# Web addresses


def address(link: str) -> AddressItem | UnreadableItem:
    """Ends at the first blank; what a sentence or a bracket put behind it is dropped."""
    url = WRAPPED.split(link, maxsplit=1)[0]
    if len(url) > LONGEST_ADDRESS:
        return UnreadableItem(link, "too_long")
    while url.endswith(TRAILING) and not (url.endswith(")") and is_balanced(url)):
        url = url[:-1]
    why = find_url_error(url)
    return UnreadableItem(link, why) if why else AddressItem(url, name_of(url), url)


def is_balanced(url: str) -> bool:
    return url.count("(") >= url.count(")")


def find_url_error(url: str) -> str:
    if UNSEEN.search(url) or "\\" in url:
        return "control_characters"
    try:
        parts = urlsplit(url)
        has_host, _port = bool(parts.hostname), parts.port
    except ValueError:
        return "no_address"
    if parts.username is not None or parts.password is not None:
        return "has_password"
    return "" if has_host else "no_address"


def name_of(url: str) -> str:
    """The last part of the path, as the result will probably be called."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]).replace("\x00", "")
    return last[:LONGEST_NAME] or parts.hostname or url


def named(item: Item, name: str) -> Item:
    """A magnet that has no name of its own, with the one that somebody gave it beside it."""
    if not isinstance(item, MagnetItem) or item.name != item.info_hash or not name.strip():
        return item
    found = magnet(f"{item.uri}&dn={quote(name.strip()[:200], safe='')}")
    return found if isinstance(found, MagnetItem) else item
