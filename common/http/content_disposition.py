"""Write and read the header that names a download: RFC 6266 and 8187, and what servers send."""

import re
from contextlib import suppress
from email.errors import MessageError
from email.header import decode_header, make_header
from urllib.parse import quote, unquote_to_bytes

from common.http.forms import decode
from common.names import safe_name

ATTRIBUTE_CHARACTERS = "!#$&+^`|"  # RFC 8187, beside letters, digits and -._~
PARAMETER = re.compile(r';\s*([\w!#$&+.^`|~*-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)', re.DOTALL)
EXTENDED = re.compile(r"([\w.:-]*)'[\w-]*'(.*)", re.DOTALL)
ENCODED_WORDS = re.compile(r"(?:\s*=\?[\w-]+\?[bqBQ]\?[^?\s]*\?=)+\s*")


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


def name_in(header: str) -> str:
    """Return the name as it was sent, or an empty string."""
    parameters: dict[str, str] = {}
    for match in PARAMETER.finditer(";" + header[header.find(";") + 1 :]):
        parameters.setdefault(match[1].lower(), match[2].strip())
    extended, plain = parameters.get("filename*", ""), parameters.get("filename", "")
    return decode_extended(extended) or decode_plain(plain)


def decode_extended(value: str) -> str:
    """Decode RFC 8187, such as `UTF-8''%e2%82%ac.txt`; some servers put it in quotes."""
    match = EXTENDED.fullmatch(unquote(value))
    if match is None:
        return ""
    try:
        return unquote_to_bytes(match[2]).decode(match[1] or "utf-8")
    except (LookupError, UnicodeError):
        return decode(unquote_to_bytes(match[2]))


def decode_plain(value: str) -> str:
    name = unquote(value)
    if ENCODED_WORDS.fullmatch(name):
        with suppress(LookupError, ValueError, MessageError):
            return str(make_header(decode_header(name)))
    return name


def unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
    return value.strip('"')
