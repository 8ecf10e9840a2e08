"""Send file bytes to the browser: redirect to a signed URL, or proxy the stream."""

import errno
import logging
import re
import threading
from collections.abc import Callable, Iterator
from urllib.parse import quote, unquote

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from webui.connection.connection import Service
from webui.http.client_disconnect import disconnect_watcher
from webui.http.content_types import KEPT, BrowserHandling
from webui.http.requests import Request
from webui.library.content_check import Expected, check
from webui.v1.errors import Failure, Unreadable
from webui.v1.links import Download, Link, sent_on

log = logging.getLogger("ferry.delivery")

PASSED_ON = ("Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified")
STATUSES = (200, 206, 304, 416)
PLAIN_NAME = re.compile(r"""filename\s*=\s*"?([^";]*)""", re.IGNORECASE)
CODED_NAME = re.compile(r"""filename\*\s*=\s*utf-8''([^;\s]*)""", re.IGNORECASE)
UNSAFE_IN_A_NAME = re.compile(
    r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\u202a-\u202e\u2066-\u2069\ud800-\udfff]'
)
BUSY_SECONDS = 5

Opening = Callable[[dict[str, str]], Link | Download]
Presenting = Callable[[Download], BrowserHandling]


class StreamSlots:
    """So many streams at once, and no more: a reader holds a thread for as long as it reads, and
    with all threads at readers no page is answered."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    def take(self) -> bool:
        return self._free.acquire(blocking=False)

    def give_back(self) -> None:
        self._free.release()


slots = StreamSlots(settings.STREAMS_PER_PROCESS)


def deliver(
    request: HttpRequest, service: Service, opening: Opening, expected: Expected
) -> HttpResponseBase:
    """`opening` asks the service; it answers with a link, or with the bytes themselves."""
    if service.is_embedded:
        found = opening({})
        if isinstance(found, Link):
            return handed_over(found)
        return passed_on(found, expected.name, _nothing)
    if not slots.take():
        return busy()
    try:
        found = opening(sent_on(request.headers))
        if isinstance(found, Download):
            check(service.v1, found, expected, request.method or "GET")
    except BaseException:
        slots.give_back()
        raise
    if isinstance(found, Download):
        return passed_on(found, expected.name, watched(request, found))
    slots.give_back()
    return handed_over(found)


def show(
    request: Request, opening: Opening, present: Presenting, expected: Expected
) -> HttpResponseBase:
    """For use inside a page: passed on by the site, wherever the service keeps it."""
    if not slots.take():
        return busy()
    headers = sent_on(request.headers)
    try:
        found = opening(headers)
        if isinstance(found, Link):
            found = request.v1.open(found, headers, request.method or "GET")
        check(request.v1, found, expected, request.method or "GET")
    except BaseException:
        slots.give_back()
        raise
    return passed_on(found, expected.name, watched(request, found), present(found))


def watched(request: HttpRequest, found: Download) -> Callable[[], None]:
    """Ends the stream at the service when the reader leaves, though no byte comes just then.
    Returns what gives its slot back."""
    reader = request.META.get("gunicorn.socket")
    forget = disconnect_watcher().expect(reader, found.abort) if reader is not None else _nothing

    def done() -> None:
        forget()
        slots.give_back()

    return done


def handed_over(link: Link) -> HttpResponse:
    """Our own service's links as a path, so that they fit every name that Ferry is known by."""
    response = HttpResponse(status=302)
    response["Location"] = link.path_and_query if link.is_ours else link.url
    response["Cache-Control"] = "private, no-store"
    return response


def busy() -> HttpResponse:
    response = HttpResponse("Too many downloads at once.\n", status=503, content_type="text/plain")
    response["Retry-After"] = str(BUSY_SECONDS)
    return response


def passed_on(
    found: Download, name: str, done: Callable[[], None], shown: BrowserHandling = KEPT
) -> HttpResponseBase:
    if found.status not in STATUSES:
        done()
        found.close()
        raise Unreadable("bad_stream", status=found.status)
    response = StreamingHttpResponse(RelayedStream(found, done), status=found.status)
    for header in PASSED_ON:
        if header in found.headers:
            response[header] = one_line(found.headers[header])
    response["Content-Type"] = shown.content_type
    response["Content-Disposition"] = disposition(shown.manner, name or name_in(found))
    response["Cache-Control"] = "private, no-cache"
    response["Content-Security-Policy"] = shown.policy
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


class RelayedStream:
    """Pieces as they come from the service, closed there as soon as the reader leaves.

    A stream that breaks is an aborted connection: ending it quietly would pass for the whole.
    """

    def __init__(self, found: Download, done: Callable[[], None]) -> None:
        self._found = found
        self._pieces = iter(found)
        self._done: Callable[[], None] | None = done

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._pieces)
        except Failure as failure:
            if not self._found.is_aborted:
                log.warning("stream broken reason=%s", failure)
            raise ConnectionResetError(errno.ECONNRESET, "the service broke off") from failure

    def close(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            # First: a connection that is closed may serve another reader the next moment.
            done()
            self._found.close()


def _nothing() -> None:
    """Our own service's bytes hold no slot."""


def one_line(value: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", "", value)[:1000]


def name_in(found: Download) -> str:
    """The name that the service gives its stream, if it gives any."""
    header = found.headers.get("Content-Disposition", "")[:4000]
    coded, plain = CODED_NAME.search(header), PLAIN_NAME.search(header)
    if coded:
        return unquote(coded[1], errors="replace")
    return plain[1].strip() if plain else ""


def attachment(name: str) -> str:
    return disposition("attachment", name)


def disposition(manner: str, name: str) -> str:
    """For any name: a plain one for old clients, the true one as RFC 8187 has it."""
    safe = UNSAFE_IN_A_NAME.sub("_", name)[:255].strip(" .") or "file"
    plain = "".join(char if " " <= char <= "~" and char != "%" else "_" for char in safe)
    value = f'{manner}; filename="{plain}"'
    if plain != safe:
        value += f"; filename*=UTF-8''{quote(safe, safe='')}"
    return value
