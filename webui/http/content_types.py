"""Tell browsers what to do with a file's bytes: their type, and whether to show them.

The type depends on the name alone, and is never one that can run code: a file with a false name is
a broken picture at worst.
"""

from typing import NamedTuple

from common.http.content_types import LOCKED, PDF, PDF_VIEWER, SAFE_TYPES, UNKNOWN, VIEWER, ZIP

NEVER_SHOWN = frozenset({UNKNOWN, PDF, ZIP})
DRAWING = "svg"


class BrowserHandling(NamedTuple):
    manner: str  # inline or attachment
    content_type: str
    policy: str


LOCKED_HEADERS = {"Content-Security-Policy": LOCKED, "Cross-Origin-Resource-Policy": "same-origin"}
IMMUTABLE = "private, max-age=31536000, immutable"
KEPT = BrowserHandling("attachment", UNKNOWN, LOCKED)
DOCUMENT = BrowserHandling("inline", PDF, PDF_VIEWER)
# In <img>, an SVG runs nothing and loads nothing; when opened alone, this policy ensures the same.
DRAWN = BrowserHandling(
    "inline", "image/svg+xml", "sandbox; default-src 'none'; style-src 'unsafe-inline'"
)


def presentation(name: str) -> BrowserHandling:
    extension = name.rpartition(".")[2].lower()
    if extension == DRAWING:
        return DRAWN
    content_type = SAFE_TYPES.get(extension, UNKNOWN)
    is_shown = content_type not in NEVER_SHOWN
    return BrowserHandling("inline", content_type, VIEWER) if is_shown else KEPT
