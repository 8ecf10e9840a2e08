"""Drop what can't be read from a request's headers, before anything parses them.

No browser sends such headers. All views would fail on them, each in its own way.
"""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

from django.utils.http import parse_header_parameters

# They say which page a request came from, which every view can do without.
HINTS = ("HTTP_REFERER", "HTTP_HX_CURRENT_URL")
CHARSET = re.compile(r';\s*charset\b[^=;]*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^;]*))?', re.IGNORECASE)


def drop(environ: dict[str, Any]) -> None:
    for name in HINTS:
        if not is_url(environ.get(name, "")):
            del environ[name]
    if "CONTENT_TYPE" in environ:
        environ["CONTENT_TYPE"] = readable_type(environ["CONTENT_TYPE"])


def is_url(text: str) -> bool:
    """Return whether a URL can be split, as it is and decoded, as htmx may ask."""
    try:
        return all(map(urlsplit, (text, unquote(text))))
    except ValueError:
        return False


def readable_type(content_type: str) -> str:
    """Return a content type without its charset, or without any parameters if they are malformed.

    Ferry reads all forms as UTF-8, as browsers send them. Some of Python's charsets aren't text.
    """
    without_charset = CHARSET.sub("", content_type)
    try:
        if "charset" not in parse_header_parameters(without_charset)[1]:
            return without_charset
    except (TypeError, ValueError):
        pass  # Python's parser raises TypeError if numbered and plain parameters have one name.
    return content_type.partition(";")[0]
