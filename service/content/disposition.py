"""Tell browsers what to do with a file: its type, whether to show it, and its name."""

from typing import NamedTuple

from common.http.content_disposition import disposition
from common.http.content_types import (
    LOCKED,
    PDF,
    PDF_VIEWER,
    PLAIN,
    SAFE_TYPES,
    UNKNOWN,
    VIEWER,
    ZIP,
)

# Shown as plain text, never interpreted.
ACTIVE_TEXT = frozenset(
    {
        *("html", "htm", "xhtml", "xht", "shtml", "svg", "xml", "xsl", "xslt", "rss", "atom"),
        *("mathml", "js", "mjs", "css", "json"),
    }
)
NEVER_SHOWN = frozenset({UNKNOWN, ZIP})


class Presentation(NamedTuple):
    content_type: str
    disposition: str
    policy: str


def presentation(name: str, *, inline: bool) -> Presentation:
    """Return how to present a file; `inline` is granted only to types that are safe to show."""
    extension = name.rpartition(".")[2].lower()
    content_type = SAFE_TYPES.get(extension, UNKNOWN)
    if inline and extension in ACTIVE_TEXT:
        content_type = PLAIN
    if not inline or content_type in NEVER_SHOWN:
        return Presentation(content_type, disposition("attachment", name), LOCKED)
    policy = PDF_VIEWER if content_type == PDF else VIEWER
    return Presentation(content_type, disposition("inline", name), policy)
