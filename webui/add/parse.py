"""Parse pasted text line by line: magnet links, web addresses, and unreadable lines.

The text isn't trusted, and nothing is fetched. A line of prose that contains a link counts as the
link. Names stay as they came, since it's the pages' job to show them safely.
"""

import re
from dataclasses import dataclass, replace
from itertools import islice
from urllib.parse import quote, unquote, urlsplit

from common import magnets
from common.magnets import SIZE, Fields, hashes_of

MOST_LINES = 10_000
MOST_FIELDS = 20_000
MOST_BYTES = 10 * 2**20
MOST_TRACKERS = 100
LONGEST_MAGNET = 60_000  # Services read about 64 KiB of a magnet.
LONGEST_ADDRESS = 8_000
LONGEST_NAME = 1_024

LINK = re.compile(r"(?<![^\s<>\"'(\[{])(?=(?:magnet:\?|https?://)\S)", re.IGNORECASE)
BARE_HASH = re.compile(r"[0-9a-fA-F]{40}")
UNSEEN = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
WRAPPED = re.compile(r"""[\s<>"'`]""")
TRAILING = tuple(".,;:!?)]}")


@dataclass(frozen=True)
class MagnetItem:
    """A magnet link. `uri` is what Ferry sends, without the trackers beyond MOST_TRACKERS."""

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
    """A line that isn't a link. `why` is one of the reasons in `webui/words/reasons.py`."""

    line: str
    why: str
    line_number: int = 0


Item = MagnetItem | AddressItem | UnreadableItem


@dataclass(frozen=True)
class ParsedText:
    """The items of a text. `rest`: the lines beyond the limit, unparsed."""

    items: list[Item]
    rest: str


def read(text: str) -> list[Item]:
    return parse_lines(text).items


def parse_lines(text: str) -> ParsedText:
    """Parse up to MOST_LINES lines, and drop duplicates. The caller limits the text's bytes."""
    numbered = enumerate(re.split(r"\r\n|\r|\n", text), 1)
    lines = ((number, line.strip()) for number, line in numbered if line.strip())
    some = islice(lines, MOST_LINES)
    pieces = ((number, piece.strip()) for number, line in some for piece in pieces_of(line))
    items_by_key: dict[str, Item] = {}
    for number, piece in islice(pieces, MOST_LINES):
        item = item_of(piece)
        if isinstance(item, UnreadableItem):
            item = replace(item, line_number=number)
        items_by_key.setdefault(key_of(item), item)
    return ParsedText(
        list(items_by_key.values()), "\n".join(rest for _number, rest in [*pieces, *lines])
    )


def key_of(item: Item) -> str:
    if isinstance(item, MagnetItem):
        return item.info_hash
    return item.url if isinstance(item, AddressItem) else item.line


def pieces_of(line: str) -> list[str]:
    """Split a line into its links, without the words before them; else return the line."""
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
    """Parse a magnet link. Names with bare spaces are common, so it ends only with its line or at
    another link. Quotes and angle brackets around it are dropped."""
    line = line or link
    if UNSEEN.search(link):
        return UnreadableItem(line, "control_characters")
    link = re.sub(r"\s", "%20", re.split(r"[<>\"]", link, maxsplit=1)[0].strip())
    fields = fields_of(link)
    v1, v2 = hashes_of(fields)
    info_hash = v1 or v2[:40]  # 40 digits, as the service spells it
    if not info_hash:
        return UnreadableItem(line, "no_hash")
    uri = drop_excess_trackers(link)
    if len(uri) > LONGEST_MAGNET:
        return UnreadableItem(line, "too_long")
    sizes = [int(value) for key, value in fields if key == "xl" and SIZE.fullmatch(value)]
    name = next((value for key, value in fields if key == "dn"), "").replace("\x00", "").strip()
    return MagnetItem(
        name=name[:LONGEST_NAME] or info_hash,
        info_hash=info_hash,
        uri=uri,
        size_bytes=next((size for size in sizes if size), None),
        tracker_count=sum(key == "tr" for key, _value in fields),
        line=line,
    )


def fields_of(uri: str) -> Fields:
    pairs = uri.partition("?")[2].replace("&amp;", "&")
    try:
        return magnets.fields_of(pairs, MOST_FIELDS)
    except ValueError:
        return []


def drop_excess_trackers(uri: str) -> str:
    """Drop trackers beyond MOST_TRACKERS, since no service reads ten thousand of them."""
    fields, trackers = [], 0
    for field in uri.partition("?")[2].replace("&amp;", "&").split("&"):
        trackers += field[:3].lower() in ("tr=", "tr.")
        if trackers <= MOST_TRACKERS or field[:3].lower() not in ("tr=", "tr."):
            fields.append(field)
    return "magnet:?" + "&".join(fields)


# Web addresses


def address(link: str) -> AddressItem | UnreadableItem:
    """Parse a URL. It ends at the first blank; punctuation and brackets after it are dropped."""
    url = WRAPPED.split(link, maxsplit=1)[0]
    if len(url) > LONGEST_ADDRESS:
        return UnreadableItem(link, "too_long")
    while url.endswith(TRAILING) and not (url.endswith(")") and url.count("(") >= url.count(")")):
        url = url[:-1]
    why = find_url_error(url)
    return UnreadableItem(link, why) if why else AddressItem(url, name_of(url), url)


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
    """Return the last part of the path, which is probably the name of the result."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]).replace("\x00", "")
    return last[:LONGEST_NAME] or parts.hostname or url


def add_name(item: Item, name: str) -> Item:
    """Give a magnet without a name the name that was sent with it."""
    if not isinstance(item, MagnetItem) or item.name != item.info_hash or not name.strip():
        return item
    new_item = magnet(f"{item.uri}&dn={quote(name.strip()[:200], safe='')}")
    return new_item if isinstance(new_item, MagnetItem) else item
