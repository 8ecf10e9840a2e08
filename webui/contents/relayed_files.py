"""Send file bytes to the browser: redirect to a signed URL, or proxy the stream."""

import errno
import logging
import re
from collections.abc import Callable, Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from common.http.content_disposition import disposition, name_in
from webui.contents.content_check import Expected, check
from webui.http.client_disconnect import disconnect_watcher
from webui.http.content_types import KEPT, BrowserHandling
from webui.http.requests import Request, service_of
from webui.library.bounds import bounds_of
from webui.limiter import Limiter, Slot
from webui.v1.errors import Failure, Unreadable
from webui.v1.links import Download, Link, UnreadBytes, sent_on

log = logging.getLogger("ferry.delivery")

PASSED_ON = ("Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified")
STATUSES = (200, 206, 304, 416)
BUSY_SECONDS = 5

Opening = Callable[[dict[str, str], str], Link | Download]  # by headers and method
Presenting = Callable[[Download], BrowserHandling]


# A stream may hold a thread while it waits for the service, and pages need threads, too.
slots = Limiter(settings.STREAMS_PER_PROCESS, wait_seconds=0)


def deliver(request: Request, opening: Opening, expected: Expected) -> HttpResponseBase:
    """Send a file to the browser. `opening` asks the service, which answers with a link or with the
    bytes themselves. A visitor gets no link of the service: it would last longer than the visit."""
    is_visit = bounds_of(request) is not None
    if is_visit or not service_of(request).is_embedded:
        return show(request, opening, lambda _download: KEPT, expected, hides_links=is_visit)
    answer = opening({}, request.method or "GET")
    if isinstance(answer, Link):
        return redirect_to(answer)
    return passed_on(answer, expected.name, _nothing)


def show(
    request: Request,
    opening: Opening,
    present: Presenting,
    expected: Expected,
    *,
    hides_links: bool = True,
) -> HttpResponseBase:
    """Send a file for use inside a page. The site passes the bytes on, even behind a link, unless
    links may be shown."""
    v1, headers, method = service_of(request).v1, sent_on(request.headers), request.method or "GET"
    slot = slots.take()
    if slot is None:
        return busy()
    try:
        answer = opening(headers, method)
        if hides_links:
            answer = v1.open(answer, headers, method)
        if isinstance(answer, Download):
            check(v1, answer, expected, method)
    except BaseException:
        slot.give_back()
        raise
    if isinstance(answer, Link):
        slot.give_back()
        return redirect_to(answer)
    if answer.file is not None:  # The kernel sends it, without a thread.
        slot.give_back()
        return passed_on(answer, expected.name, _nothing, present(answer))
    return passed_on(
        answer, expected.name, abort_on_disconnect(request, answer, slot), present(answer)
    )


def abort_on_disconnect(request: HttpRequest, download: Download, slot: Slot) -> Callable[[], None]:
    """Abort the service's stream if the client disconnects, even while the stream is idle. Return a
    function that stops watching and releases the slot."""

    def abort() -> None:
        # Give back the slot first, since a player that seeks asks for its next stream at once.
        slot.give_back()
        download.abort()

    reader = request.META.get("gunicorn.socket")
    forget = disconnect_watcher().expect(reader, abort) if reader is not None else _nothing

    def release() -> None:
        forget()
        slot.give_back()

    return release


def redirect_to(link: Link) -> HttpResponse:
    """Redirect to a link. Links of our own service are sent as paths, so that they work under every
    host name of Ferry."""
    location = link.path_and_query if link.is_ours else link.url
    headers = {"Location": location, "Cache-Control": "private, no-store"}
    return HttpResponse(status=302, headers=headers)


def busy() -> HttpResponse:
    response = HttpResponse("Too many downloads at once.\n", status=503, content_type="text/plain")
    response["Retry-After"] = str(BUSY_SECONDS)
    return response


def passed_on(
    download: Download, name: str, release: Callable[[], None], handling: BrowserHandling = KEPT
) -> HttpResponseBase:
    if download.status not in STATUSES:
        release()
        download.close()
        raise Unreadable("bad_stream", status=download.status)
    response = RelayedResponse(RelayedStream(download, release), status=download.status)
    for header in PASSED_ON:
        if header in download.headers:
            response[header] = one_line(download.headers[header])
    response["Content-Type"] = handling.content_type
    name = name or name_of(download) or "file"
    response["Content-Disposition"] = disposition(handling.manner, name)
    response["Cache-Control"] = "private, no-cache"
    response["Content-Security-Policy"] = handling.policy
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


class RelayedResponse(StreamingHttpResponse):
    """A response whose file the kernel may send, or the rest of it from the service's socket."""

    block_size = 128 * 1024

    def __init__(self, stream: "RelayedStream", status: int) -> None:
        super().__init__(stream, status=status)
        self.rest = stream.rest
        self.file_to_stream = stream.file


class RelayedStream:
    """A stream of the service's bytes, closed there as soon as the client disconnects.

    If the stream breaks, the client's connection is aborted: a normal end would pass for the whole
    file.
    """

    def __init__(self, download: Download, release: Callable[[], None]) -> None:
        self._download = download
        self.file = download.file
        self._pieces = iter(download)
        self._passed_bytes = 0
        self._release: Callable[[], None] | None = release

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            piece = next(self._pieces)
        except Failure as failure:
            if not self._download.is_aborted:
                log.warning("stream broken reason=%s", failure)
            raise ConnectionResetError(errno.ECONNRESET, "the service broke off") from failure
        self._passed_bytes += len(piece)
        return piece

    def rest(self) -> UnreadBytes | None:
        return self._download.unread(self._passed_bytes)

    def close(self) -> None:
        release, self._release = self._release, None
        if release is not None:
            # Stop watching first: after `close`, the connection may serve another download.
            release()
            self._download.close()


def _nothing() -> None:
    """Do nothing: files that our own service sends directly hold no slot."""


def one_line(value: str) -> str:
    return re.sub(r"[\x00-\x1f\x7f]", "", value)[:1000]


def name_of(download: Download) -> str:
    """Return the file name in the service's headers, or an empty string."""
    return name_in(download.headers.get("Content-Disposition", "")[:4000])
