"""The requests that write objects.

obstore reads, lists, and deletes. Its own writers can't abort a multipart upload, and they finish
one without the condition that nothing may be overwritten.
"""

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import NamedTuple
from xml.etree.ElementTree import Element, fromstring
from xml.sax.saxutils import escape

import httpx

from common.storage import database_connection
from service.errors import DiskFull
from service.store.objects.bucket import Bucket
from service.store.objects.failures import away

log = logging.getLogger("ferry.store")

# A busy store needs seconds to write a part, and to join all of them.
TIMEOUT = httpx.Timeout(3, connect=1, read=10)
# As many as there are uploads.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)
TRIES = 2
# S3 itself lets clocks differ by this much.
SIGNED_SECONDS = 15 * 60
CREATE = {"If-None-Match": "*"}


class Exists(Exception):  # noqa: N818  Errors are nouns here.
    """An object has this key already."""


class UnfinishedUpload(NamedTuple):
    key: str
    upload_id: str
    begun_at: datetime


class ObjectRequests:
    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        # Proxies of the environment are for other programs.
        self._client = httpx.Client(timeout=TIMEOUT, limits=LIMITS, trust_env=False)

    def close(self) -> None:
        self._client.close()

    def clock_gap(self) -> timedelta:
        """Return by how much the store's clock is ahead of this machine's, if it sends the time."""
        try:
            date = self._client.get(self._bucket.endpoint).headers["Date"]
            return parsedate_to_datetime(date) - datetime.now(UTC)
        except (httpx.TransportError, KeyError, ValueError):
            return timedelta(0)

    def create(self, key: str, content: bytes, *, may_replace: bool = False) -> None:
        """Store a small object. Raises Exists, StoreAway, DiskFull."""
        self._send("PUT", key, content=content, headers={} if may_replace else CREATE)

    def size(self, key: str) -> int:
        return int(self._send("HEAD", key).headers["Content-Length"])

    def begin(self, key: str) -> str:
        """Begin an upload in parts, and return its id."""
        return _text_of(self._send("POST", key, {"uploads": ""}), "UploadId")

    def add_part(self, key: str, upload_id: str, number: int, content: bytes) -> str:
        """Add the part of this number, from 1 on, and return its tag."""
        query = {"partNumber": str(number), "uploadId": upload_id}
        return self._send("PUT", key, query, content).headers["ETag"]

    def finish(
        self, key: str, upload_id: str, etags: list[str], *, may_replace: bool = False
    ) -> None:
        """Make an object of the parts with these tags. Raises Exists, StoreAway."""
        parts = (
            f"<Part><PartNumber>{number}</PartNumber><ETag>{escape(etag)}</ETag></Part>"
            for number, etag in enumerate(etags, 1)
        )
        body = f"<CompleteMultipartUpload>{''.join(parts)}</CompleteMultipartUpload>"
        condition = {} if may_replace else CREATE
        answer = self._send("POST", key, {"uploadId": upload_id}, body.encode(), condition)
        # While it joins the parts, the store has sent 200 already; an error follows in the body.
        if _root_of(answer).tag.endswith("Error"):
            raise away(answer.text)

    def abort(self, key: str, upload_id: str) -> None:
        self._send("DELETE", key, {"uploadId": upload_id})

    def list_unfinished(self) -> Iterator[UnfinishedUpload]:
        """Yield the uploads in parts that were begun and not finished."""
        prefix = f"{self._bucket.prefix}/" if self._bucket.prefix else ""
        query = {"uploads": "", "prefix": prefix}
        while True:
            answer = self._send("GET", "", query)
            for upload in _root_of(answer).iterfind("{*}Upload"):
                key = (upload.findtext("{*}Key") or "").removeprefix(prefix)
                begun_at = datetime.fromisoformat(upload.findtext("{*}Initiated") or "")
                yield UnfinishedUpload(key, upload.findtext("{*}UploadId") or "", begun_at)
            if _text_of(answer, "IsTruncated") != "true":
                return
            query["key-marker"] = _text_of(answer, "NextKeyMarker")
            query["upload-id-marker"] = _text_of(answer, "NextUploadIdMarker")

    def _send(
        self,
        method: str,
        key: str,
        query: Mapping[str, str] | None = None,
        content: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Send a request, again if the store fails. Raises StoreAway, DiskFull.

        Also raises Exists, if a header makes that a condition.
        """
        database_connection.give_back()
        for number in range(1, TRIES + 1):
            url = self._bucket.sign(method, key, SIGNED_SECONDS, query)
            length = {"Content-Length": str(len(content))}
            try:
                answer = self._client.request(
                    method, url, content=_once(content), headers=length | dict(headers or {})
                )
            except httpx.TransportError as error:
                trouble = repr(error)
            else:
                if headers and answer.status_code == 412:
                    raise Exists
                if answer.status_code == 507:
                    raise DiskFull
                if answer.is_success:
                    return answer
                trouble = f"{answer.status_code} {answer.text[:200]}"
                # A conflict with another request, perhaps our own first try, has stored nothing.
                if answer.is_client_error and answer.status_code != 409:
                    break
            log.debug("store failed method=%s try=%d: %s", method, number, trouble)
        raise away(trouble)


def _once(content: bytes) -> Iterator[bytes]:
    """Yield the content: httpx's requests form reference cycles, which would keep it in memory."""
    yield content


def _root_of(answer: httpx.Response) -> Element:
    return fromstring(answer.content)  # noqa: S314  The owner's own store sends it.


def _text_of(answer: httpx.Response, name: str) -> str:
    return _root_of(answer).findtext(f"{{*}}{name}") or ""
