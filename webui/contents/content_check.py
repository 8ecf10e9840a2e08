"""Compare what a service sends as a file or ZIP with what its listing promised.

A failing service may answer 200 and send a web page, a JSON message, or nothing at all. Saved
under the file's name, that would pass for the file.
"""

import re
from dataclasses import dataclass
from typing import Literal

from webui.library.entries import Entry
from webui.library.kinds import KINDS
from webui.v1.client import Client
from webui.v1.errors import NoRoom, Rejected, Unreadable
from webui.v1.links import Download

Kind = Literal["", "binary", "markup", "json", "zip"]

# Read this much of a response without a length, or all of it if shorter, before judging it.
MOST_PEEKED_BYTES = 64 * 1024
BEGINNING_BYTES = 1024

BINARY_KINDS = ("film", "audio", "image", "archive")
BINARY = frozenset(" ".join(["pdf", *(KINDS[kind] for kind in BINARY_KINDS)]).split())
MARKUP = frozenset({
    *("html", "htm", "xhtml", "xht", "mht", "mhtml", "svg", "xml", "xsl", "rss", "atom", "opf"),
    *("eml", "md", "markdown"),
})  # fmt: skip
JSON = frozenset(["json", "json5", "jsonl", "ipynb", "webmanifest", "map"])

PAGE = re.compile(
    # Possessive: backtracking over many comments would take exponential time.
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?xml[^>]{0,200}>|<!--.{0,500}?-->)\s*)*+"
    rb"<(?:!doctype|html|head|body|title|meta|center|script|h[1-6]|p|div|error)\b",
    re.IGNORECASE | re.DOTALL,
)
MESSAGE = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*["\[{\]])')
ZIP_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
RANGE = re.compile(r"bytes ([0-9]{1,19})-[0-9]{1,19}/([0-9]{1,19}|\*)")


@dataclass(frozen=True)
class Expected:
    """What the bytes should be. `size_bytes` is None if the listing doesn't say."""

    name: str
    kind: Kind = ""
    size_bytes: int | None = None


UNKNOWN = Expected("")
# For a file that no listing names: anything but a page or a message.
UNLISTED = Expected("", "binary")


def expected_file(entry: Entry | None) -> Expected:
    """Return what the listing promises, or UNKNOWN."""
    if entry is None:
        return UNKNOWN
    # Some services send 0 for an unknown size.
    return Expected(entry.name, kind_of(entry.extension), entry.size_bytes or None)


def expected_zip(name: str) -> Expected:
    """Expect a ZIP with this name; our own service, which names its ZIPs itself, is trusted."""
    return Expected(f"{name}.zip", "zip") if name else UNKNOWN


def kind_of(extension: str) -> Kind:
    if extension in MARKUP:
        return "markup"
    if extension in JSON:
        return "json"
    return "binary" if extension in BINARY else ""


def check(v1: Client, download: Download, expected: Expected, method: str = "GET") -> None:
    """Close the response and raise if the service sent something other than the file."""
    if download.status not in (200, 206) or not (expected.name or expected.kind):
        return
    word = find_mismatch(download, expected, has_body=method != "HEAD")
    if not word:
        return
    with download:
        message = said_in(v1, download) if word == "sent_message" else ""
    raise Unreadable(word, status=download.status, said=message)


def said_in(v1: Client, download: Download) -> str:
    """Return the service's message, or raise a failure with a distinct class, such as `NoRoom`."""
    try:
        v1.check_message(download)
    except Unreadable:
        return ""
    except Rejected as refused:
        if isinstance(refused, NoRoom):
            raise
        return refused.message or refused.said
    return ""


def find_mismatch(download: Download, expected: Expected, *, has_body: bool) -> str:
    """Return a code for what came instead, or an empty string."""
    start, size_bytes = range_of(download)
    has_beginning = has_body and start == 0
    if size_bytes is not None and expected.size_bytes is not None:
        if size_bytes == expected.size_bytes:
            return ""
        return what_came(download.peek(BEGINNING_BYTES)) if has_beginning else "sent_other"
    if not has_beginning:
        return ""
    if expected.size_bytes is None:
        return unlike(download, expected)
    return too_short(download, expected.size_bytes) or unlike(download, expected)


def range_of(download: Download) -> tuple[int | None, int | None]:
    """Return where the bytes begin, and the size of the whole file; None if unknown."""
    if download.status == 200:
        return 0, download.size_bytes
    match = RANGE.fullmatch(download.headers.get("Content-Range", ""))
    if match is None:
        return None, None
    return int(match[1]), None if match[2] == "*" else int(match[2])


def too_short(download: Download, size_bytes: int) -> str:
    """Check a response without a length, and hold the rest of its stream to the listed size."""
    beginning = download.peek(min(size_bytes, MOST_PEEKED_BYTES))
    if len(beginning) < min(size_bytes, MOST_PEEKED_BYTES):
        return what_came(beginning)
    if download.status == 200:
        download.expect(size_bytes)
    return ""


def unlike(download: Download, expected: Expected) -> str:
    """Judge by the first bytes alone. Text may contain markup or JSON, so for text the
    Content-Type has to agree."""
    beginning = download.peek(BEGINNING_BYTES)
    if expected.kind == "zip":
        return "" if beginning.startswith(ZIP_BEGINNINGS) else what_came(beginning)
    came = what_came(beginning)
    if expected.kind == "binary":
        return "" if came == "sent_other" else came
    content_type = download.headers.get("Content-Type", "").lower()
    if came == "sent_page" and "html" in content_type and expected.kind != "markup":
        return came
    if came == "sent_message" and "json" in content_type and expected.kind != "json":
        return came
    return ""


def what_came(beginning: bytes) -> str:
    if not beginning.strip():
        return "sent_nothing"
    if PAGE.match(beginning):
        return "sent_page"
    return "sent_message" if MESSAGE.match(beginning) else "sent_other"
