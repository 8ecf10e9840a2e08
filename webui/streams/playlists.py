"""Rewrite a foreign service's playlists so that every URL leads through the site.

Only tags that a player needs are kept. Tags that could lead a player elsewhere by other means
(variables, content steering, interstitials, low-latency parts) are removed, and the rest plays.
"""

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import count

from webui.v1.errors import Unreadable

MOST_BYTES = 4 * 2**20
MOST_LINES = 100_000
MOST_ADDRESSES = 30_000
LONGEST_LINE = 8_192

FIRST_LINE = "#EXTM3U"
ATTRIBUTE = re.compile(r'([A-Z0-9-]{1,64})=("[^"]*"|[^",]*)(?:,|$)')
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")

# Tags whose values are kept unchanged.
PLAIN = frozenset({
    *("EXT-X-VERSION", "EXT-X-INDEPENDENT-SEGMENTS", "EXT-X-START", "EXT-X-STREAM-INF"),
    *("EXTINF", "EXT-X-BYTERANGE", "EXT-X-DISCONTINUITY", "EXT-X-GAP", "EXT-X-BITRATE"),
    *("EXT-X-PROGRAM-DATE-TIME", "EXT-X-TARGETDURATION", "EXT-X-MEDIA-SEQUENCE"),
    *("EXT-X-DISCONTINUITY-SEQUENCE", "EXT-X-PLAYLIST-TYPE", "EXT-X-I-FRAMES-ONLY"),
    *("EXT-X-ALLOW-CACHE", "EXT-X-ENDLIST"),
})  # fmt: skip
VARIANT_BEGINS = "EXT-X-STREAM-INF"


class TargetKind(StrEnum):
    """What a URL in a playlist leads to. A variant playlist lists only parts, not playlists."""

    PLAYLIST = "m"
    VARIANT = "v"
    PART = "p"


WITH_ADDRESS = {
    "EXT-X-MEDIA": TargetKind.VARIANT,
    "EXT-X-I-FRAME-STREAM-INF": TargetKind.VARIANT,
    "EXT-X-KEY": TargetKind.PART,
    "EXT-X-SESSION-KEY": TargetKind.PART,
    "EXT-X-MAP": TargetKind.PART,
}
OF_VARIANTS = frozenset({VARIANT_BEGINS, "EXT-X-MEDIA", "EXT-X-I-FRAME-STREAM-INF"})

Address = Callable[[str, TargetKind], str]


def rewrite(content: bytes, kind: TargetKind, address: Address) -> str:
    """Rewrite a playlist. `address` turns each URL into ours, or raises: one bad URL rejects the
    whole playlist."""
    return "\n".join(_lines_through(lines_of(content), kind, _count_urls(address))) + "\n"


def lines_of(content: bytes) -> list[str]:
    if len(content) > MOST_BYTES or content.count(b"\n") + content.count(b"\r") > MOST_LINES:
        raise Unreadable("too_large")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("bad_playlist") from error
    lines = [line.strip() for line in text.replace("\r", "\n").split("\n")]
    if lines[0] != FIRST_LINE or any(len(line) > LONGEST_LINE for line in lines):
        raise Unreadable("bad_playlist")
    return lines[1:]


def _count_urls(address: Address) -> Address:
    numbers = count(1)

    def address_within_limit(reference: str, kind: TargetKind) -> str:
        if next(numbers) > MOST_ADDRESSES:
            raise Unreadable("too_large")
        return address(reference, kind)

    return address_within_limit


def _lines_through(lines: list[str], kind: TargetKind, address: Address) -> Iterator[str]:
    yield FIRST_LINE
    is_variant_next = False
    for line in lines:
        if line.startswith("#EXT"):
            tag, colon, rest = line[1:].partition(":")
            if kind is TargetKind.VARIANT and tag in OF_VARIANTS:
                raise Unreadable("nested_playlist")
            is_variant_next = is_variant_next or tag == VARIANT_BEGINS
            if tag in WITH_ADDRESS:
                yield f"#{tag}:{attributes(rest, WITH_ADDRESS[tag], address)}"
            elif tag in PLAIN:
                yield CONTROL.sub("", f"#{tag}{colon}{rest}")
        elif line and not line.startswith("#"):
            yield address(line, TargetKind.VARIANT if is_variant_next else TargetKind.PART)
            is_variant_next = False


def attributes(text: str, kind: TargetKind, address: Address) -> str:
    """Rebuild the attribute list, so that nothing unparsed remains."""
    pairs = []
    for name, value in ATTRIBUTE.findall(text):
        if name == "URI":
            pairs.append(f'URI="{address(value.strip(chr(34)), kind)}"')
        elif "URI" not in name:
            pairs.append(f"{name}={CONTROL.sub('', value)}")
    return ",".join(pairs)
