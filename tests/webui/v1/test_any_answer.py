"""Any answer of a service yields the requested data, or a failure that pages know."""

import io
import json
import zlib

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.webui.v1.fakes import BASE_URL, PASSWORD, service
from tests.webui.v1.test_records import ANYTHING, OBJECTS
from webui.v1 import records
from webui.v1.errors import Failure
from webui.v1.links import Download, Link

OPERATIONS = {
    "listing": lambda v1: v1.listing("7", '"etag"'),
    "largest_files": lambda v1: v1.largest_files(),
    "create_folder": lambda v1: v1.create_folder("/a"),
    "rename_file": lambda v1: v1.rename_file("7", "a"),
    "delete_file": lambda v1: v1.delete_file("7"),
    "delete_folder": lambda v1: v1.delete_folder("7"),
    "file_link": lambda v1: v1.file_link("7"),
    "zip_link": lambda v1: v1.zip_link([("file", "7"), ("folder", "8")]),
    "thumbnail": lambda v1: v1.thumbnail("7"),
    "hls": lambda v1: v1.hls("7"),
    "mp4": lambda v1: v1.mp4("7"),
    "transfers": lambda v1: v1.transfers('"etag"'),
    "transfer": lambda v1: v1.transfer("7"),
    "add_magnet": lambda v1: v1.add_magnet("magnet:?xt=urn:btih:" + "a" * 40),
    "add_file": lambda v1: v1.add_file("a", io.BytesIO(b"abc"), 3),
    "account": lambda v1: v1.account(),
}
KNOWN = (
    *(records.Listing, records.Unchanged, str, records.Playable, records.Transfers),
    *(records.Transfer, records.Added, records.Account, Link, Download, Failure, type(None)),
)
JSON = some.one_of(OBJECTS, ANYTHING).map(lambda value: json.dumps(value).encode())
REPEATING = json.dumps({"result": False, "error": f"no {PASSWORD}", "message": PASSWORD}).encode()
BODIES = some.one_of(
    JSON, some.binary(max_size=60), some.sampled_from([b"#EXTM3U\n#EXTINF:1,\na.ts\n", REPEATING])
)
PLACES = some.sampled_from(
    ["/rest/file/7", "https://media.example/x", f"{BASE_URL}/x?s=1", "file:///etc/passwd"]
) | some.text(some.characters(min_codepoint=33, max_codepoint=255), max_size=30)
HEADERS = some.fixed_dictionaries(
    {},
    optional={
        "Location": PLACES,
        "Content-Type": some.sampled_from(["application/json", "text/html", "é", ""]),
        "Content-Length": some.sampled_from(["0", "-1", "9" * 30, "x", "٣"]),
        "Content-Encoding": some.sampled_from(["gzip", "deflate", "br", "identity", "gzip, gzip"]),
        "Retry-After": some.sampled_from(["5", "-5", "9" * 50, "Wed, 99 Foo 9999", "x", "1e9"]),
        "ETag": some.sampled_from(['"a"', "a", 'W/""', '"' + "x" * 999 + '"']),
    },
)
STATUSES = some.one_of(
    some.sampled_from([200, 200, 200, 201, 206, 301, 302, 303, 307, 304, 401, 404, 405, 413, 429]),
    some.integers(200, 999),
)


class Once(httpx.SyncByteStream):
    def __init__(self, content: bytes) -> None:
        self.content = content

    def __iter__(self):
        yield self.content


def packed(headers: dict[str, str], content: bytes) -> bytes:
    is_packed = headers.get("Content-Encoding") == "gzip" and len(content) % 2
    return zlib.compress(content, wbits=31) if is_packed else content


ANSWERS = some.builds(
    lambda status, headers, content: (
        lambda _request: httpx.Response(
            status,
            headers=[(name, value.encode()) for name, value in headers.items()],
            stream=Once(packed(headers, content)),
        )
    ),
    STATUSES,
    HEADERS,
    BODIES,
)


@pytest.mark.slow
@settings(max_examples=500)
@given(some.sampled_from(list(OPERATIONS)), some.lists(ANSWERS, min_size=1, max_size=3))
def test_any_answer_is_understood_or_is_a_failure(operation, answers):
    asked = service(*answers)
    with asked.client() as v1:
        try:
            found = OPERATIONS[operation](v1)
        except Failure as failure:
            found = failure
    assert isinstance(found, KNOWN)
    shown = repr((found, getattr(found, "said", ""), getattr(found, "message", "")))
    assert PASSWORD not in shown
    shown.encode()
    for request in asked.seen:
        is_api = str(request.url).startswith(f"{BASE_URL}/rest/")
        assert is_api or "authorization" not in request.headers
        assert request.url.scheme in ("http", "https")
    assert 0 < len(asked.seen) < 30
