"""Find the name of a fetched file: RFC 6266 and 8187, and what servers send instead."""

import re
from email.header import decode_header, make_header
from urllib.parse import unquote_to_bytes

import httpx

MOST_CHARACTERS = 1_000
PARAMETER = re.compile(r';\s*([\w!#$&+.^`|~*-]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)', re.DOTALL)
EXTENDED = re.compile(r"([\w.:-]*)'[\w-]*'(.*)", re.DOTALL)
ENCODED_WORDS = re.compile(r"(?:\s*=\?[\w-]+\?[bqBQ]\?[^?\s]*\?=)+\s*")
ENDINGS = {"gzip": ".gz", "x-gzip": ".gz", "br": ".br", "zstd": ".zst", "compress": ".Z"}
PACKED = (*ENDINGS.values(), ".tgz", ".svgz", ".tzst")


def name_of(headers: httpx.Headers, url: httpx.URL) -> str:
    """Return the name as it was sent, but without a path; never empty."""
    disposition = readable(first_value(headers, b"content-disposition"))
    name = last_part(name_in(disposition)) or last_part(decode_last_part(url.raw_path)) or url.host
    return name[:MOST_CHARACTERS] + packing(headers, name)


def packing(headers: httpx.Headers, name: str) -> str:
    """Return the extension for a file that the server compressed unasked: we keep it compressed."""
    ending = ENDINGS.get(headers.get("content-encoding", "").strip().lower(), "")
    return "" if name.lower().endswith(PACKED) else ending


def name_in(disposition: str) -> str:
    parameters: dict[str, str] = {}
    for match in PARAMETER.finditer(";" + disposition[disposition.find(";") + 1 :]):
        parameters.setdefault(match[1].lower(), match[2].strip())
    return decode_extended(parameters.get("filename*", "")) or plain(parameters.get("filename", ""))


def decode_extended(value: str) -> str:
    """Decode RFC 8187, such as `UTF-8''%e2%82%ac.txt`; some servers put it in quotes."""
    match = EXTENDED.fullmatch(unquote(value))
    if match is None:
        return ""
    try:
        return unquote_to_bytes(match[2]).decode(match[1] or "utf-8")
    except (LookupError, UnicodeError):
        return readable(unquote_to_bytes(match[2]))


def plain(value: str) -> str:
    name = unquote(value)
    if ENCODED_WORDS.fullmatch(name):
        try:
            return str(make_header(decode_header(name)))
        except (LookupError, ValueError):
            return name
    return name


def unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == '"':
        return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL)
    return value.strip('"')


def decode_last_part(raw_path: bytes) -> str:
    """Decode the last part of a path, split off first: `%2F` isn't a separator."""
    path = raw_path.partition(b"?")[0]
    return readable(unquote_to_bytes(path.rpartition(b"/")[2]))


def last_part(name: str) -> str:
    parts = [part for part in re.split(r"[/\\]", name) if part.strip(". ")]
    return parts[-1].strip() if parts else ""


def readable(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def first_value(headers: httpx.Headers, key: bytes) -> bytes:
    return next((value for name, value in headers.raw if name.lower() == key), b"")
