"""Tell browsers what to do with a file's bytes: their type, and whether to show them.

The type depends on the name alone, and is never one that can run code: a file with a false name is
a broken picture at worst.
"""

from typing import NamedTuple

SHOWN = {
    **dict.fromkeys(("jpg", "jpeg", "jpe", "jfif"), "image/jpeg"),
    "png": "image/png",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "mp3": "audio/mpeg",
    **dict.fromkeys(("m4a", "m4b"), "audio/mp4"),
    "aac": "audio/aac",
    **dict.fromkeys(("ogg", "oga", "opus"), "audio/ogg"),
    "flac": "audio/flac",
    "wav": "audio/wav",
    **dict.fromkeys(("mp4", "m4v"), "video/mp4"),
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "ogv": "video/ogg",
    **dict.fromkeys(("txt", "log", "md", "nfo", "csv", "srt", "ass", "vtt"), "text/plain"),
}
DRAWING = "svg"


class BrowserHandling(NamedTuple):
    manner: str  # inline or attachment
    content_type: str
    policy: str


LOCKED = "sandbox; default-src 'none'"
LOCKED_HEADERS = {"Content-Security-Policy": LOCKED, "Cross-Origin-Resource-Policy": "same-origin"}
IMMUTABLE = "private, max-age=31536000, immutable"
# The browser's own viewers are documents too: they load the file itself, and use inline styles.
VIEWER = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
# Chromium shows no PDF under default-src 'none': its viewer counts as a plugin.
PDF_VIEWER = "sandbox; script-src 'none'; connect-src 'none'; form-action 'none'"

KEPT = BrowserHandling("attachment", "application/octet-stream", LOCKED)
PDF = BrowserHandling("inline", "application/pdf", PDF_VIEWER)
# In <img>, an SVG runs nothing and loads nothing; when opened alone, this policy ensures the same.
DRAWN = BrowserHandling(
    "inline", "image/svg+xml", "sandbox; default-src 'none'; style-src 'unsafe-inline'"
)


def presentation(name: str) -> BrowserHandling:
    extension = name.rpartition(".")[2].lower()
    if extension == DRAWING:
        return DRAWN
    content_type = SHOWN.get(extension)
    return BrowserHandling("inline", content_type, VIEWER) if content_type else KEPT
