"""Find the name of a fetched file: RFC 6266 and 8187, and what servers send instead."""

import re
from urllib.parse import unquote_to_bytes

import httpx

from common.http.content_disposition import name_in
from common.http.forms import decode

MOST_CHARACTERS = 1_000
ENDINGS = {"gzip": ".gz", "x-gzip": ".gz", "br": ".br", "zstd": ".zst", "compress": ".Z"}
PACKED = (*ENDINGS.values(), ".tgz", ".svgz", ".tzst")


def name_of(headers: httpx.Headers, url: httpx.URL) -> str:
    """Return the name as it was sent, but without a path; never empty."""
    disposition = decode(first_value(headers, b"content-disposition"))
    name = last_part(name_in(disposition)) or last_part(decode_last_part(url.raw_path)) or url.host
    return name[:MOST_CHARACTERS] + packing(headers, name)


def packing(headers: httpx.Headers, name: str) -> str:
    """Return the extension for a file that the server compressed unasked: we keep it compressed."""
    ending = ENDINGS.get(headers.get("content-encoding", "").strip().lower(), "")
    return "" if name.lower().endswith(PACKED) else ending


def decode_last_part(raw_path: bytes) -> str:
    """Decode the last part of a path, split off first: `%2F` isn't a separator."""
    path = raw_path.partition(b"?")[0]
    return decode(unquote_to_bytes(path.rpartition(b"/")[2]))


def last_part(name: str) -> str:
    parts = [part for part in re.split(r"[/\\]", name) if part.strip(". ")]
    return parts[-1].strip() if parts else ""


def first_value(headers: httpx.Headers, key: bytes) -> bytes:
    return next((value for name, value in headers.raw if name.lower() == key), b"")
