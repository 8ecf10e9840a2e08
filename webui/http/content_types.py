"""Tell browsers what to do with a file's bytes, and what a page may load.

The type of a file depends on its name alone, and is never one that can run code: a file with a
false name is a broken picture at worst.
"""

from typing import NamedTuple

from common.http.content_types import LOCKED, PDF, PDF_VIEWER, SAFE_TYPES, UNKNOWN, VIEWER, ZIP

NEVER_SHOWN = frozenset({UNKNOWN, PDF, ZIP})
DRAWING = "svg"
WITHOUT_MEDIA = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; "
)
PAGE = f"{WITHOUT_MEDIA}media-src 'self'"
# hls.js passes the streams that it assembles to the browser as blob: URLs.
PLAYER = f"{WITHOUT_MEDIA}media-src 'self' blob:"


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
