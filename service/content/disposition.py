"""Tell browsers what to do with a file: its type, whether to show it, and its name."""

from typing import NamedTuple
from urllib.parse import quote

from service.content.download_names import safe_name

UNKNOWN = "application/octet-stream"
PLAIN = "text/plain; charset=utf-8"
PDF = "application/pdf"
# Types that can't run anything. All others are served as bytes to save.
SAFE_TYPES = {
    **dict.fromkeys(("jpg", "jpeg", "jpe", "jfif"), "image/jpeg"),
    "png": "image/png",
    "apng": "image/apng",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "ico": "image/x-icon",
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
    **dict.fromkeys(("txt", "log", "md", "nfo", "csv", "srt", "ass", "vtt"), PLAIN),
    "pdf": PDF,
    "zip": "application/zip",
}
# Shown as plain text, never interpreted.
ACTIVE_TEXT = frozenset(
    {
        *("html", "htm", "xhtml", "xht", "shtml", "svg", "xml", "xsl", "xslt", "rss", "atom"),
        *("mathml", "js", "mjs", "css", "json"),
    }
)
NEVER_SHOWN = frozenset({UNKNOWN, "application/zip"})

LOCKED = "sandbox; default-src 'none'"
# The browser's built-in viewers are documents too, which load the file itself, and style it.
VIEWER = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
# Chromium shows no PDF under default-src 'none': its viewer counts as a plugin.
PDF_VIEWER = "sandbox; script-src 'none'; connect-src 'none'; form-action 'none'"

ATTRIBUTE_CHARACTERS = "!#$&+^`|"  # RFC 8187, beside letters, digits and -._~


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


def disposition(kind: str, name: str) -> str:
    """Return the header (RFC 6266): a plain name for old clients, the true one as in RFC 8187.

    The name is made portable, so no quote, backslash, line end, or change of direction is left in
    it. `%` isn't an escape in the plain name, but some clients decode it.
    """
    safe = safe_name(name)
    plain = "".join(char if " " <= char <= "~" and char != "%" else "_" for char in safe)
    value = f'{kind}; filename="{plain}"'
    if plain != safe:
        value += f"; filename*=UTF-8''{quote(safe, safe=ATTRIBUTE_CHARACTERS)}"
    return value
