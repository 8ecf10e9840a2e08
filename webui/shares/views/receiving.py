"""Links by which people without an account send files to a folder."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from common.http import multipart
from common.http.multipart import Part
from webui.activity import events
from webui.http.requests import Request, is_script, service_of
from webui.http.roles import open_to_strangers
from webui.models import HeldBytes, Share
from webui.shares import links, screen, visits
from webui.uploads import receiving as uploads
from webui.uploads.receiving import ServiceRefused, UploadRefused
from webui.words.formatting import count_words

log = logging.getLogger("ferry.sharing")

LEAST_BYTES = 2**20  # that a file counts
# Of a file that is checked for being a torrent.
HEAD_BYTES = 4 * 1024
DICTIONARY_BEGINS = re.compile(rb"d([0-9]+):")
VALUE_BEGINS = re.compile(rb"d[0-9e]|l[0-9dlie]|i-?[0-9]|[0-9]+:")


@csrf_exempt
@open_to_strangers("GET", "POST")
@screen.hide_from_search
def receive(request: Request, token: str) -> HttpResponse:
    """Show the page, or receive files. Django's CSRF check would read the whole body:
    webui.http.csrf replaces it."""
    share = screen.find_page(request, token)
    is_open = share and share.takes_files and visits.is_inside(request, share)
    if share is None or not is_open:
        return refusal(request, token, UploadRefused(404, screen.ended_words()))
    links.note_use(share, timezone.now())
    if request.method != "POST":
        return render_page(request, share, token)
    try:
        names = receive_files(request, share)
    except UploadRefused as refused:
        return refusal(request, token, refused, share)
    if is_script(request):
        return JsonResponse({"ok": True, "name": names[0]})
    return render_page(request, share, token, names=names)


def receive_files(request: Request, share: Share) -> list[str]:
    uploads.refuse_forged(request)
    length_bytes = uploads.length_of(request)
    if uploads.declared_bytes(request) is None:
        uploads.refuse_beyond_disk(length_bytes)
    refuse_beyond_limit(share, max(uploads.declared_bytes(request) or length_bytes, LEAST_BYTES))
    names = uploads.receive_files(request, length_bytes, partial(add, request, share))
    if not names:
        raise UploadRefused(422, _("Choose a file first."))
    return names


def refuse_beyond_limit(share: Share, size_bytes: int) -> None:
    """Refuse before reading, if the length shows that it is too much."""
    with transaction.atomic():
        if not links.has_room(share, size_bytes, timezone.now()):
            raise UploadRefused(413, limit_words())


def limit_words() -> str:
    return _("This link can't receive that much. Ask for a new one.")


class ArrivingFile:
    """A file that takes from its link's limit as it arrives, at most twice what is there.

    So a slow sender, or one whose connection broke, holds little. A small file counts as
    LEAST_BYTES, since each takes a row and a place.
    """

    def __init__(self, share: Share, part: Part) -> None:
        self._held = HeldBytes(share=share, size_bytes=LEAST_BYTES)
        self.arrived_bytes = 0
        self.part = Part(part.name, part.is_file, part.file_name, self._count(part))

    @contextmanager
    def hold(self) -> Iterator[None]:
        self._take(LEAST_BYTES)
        try:
            yield
            links.receive_bytes(self._held, max(self.arrived_bytes, LEAST_BYTES))
        except BaseException:
            self._held.delete()
            raise

    def _count(self, part: Part) -> Iterator[bytes]:
        while piece := part.read(multipart.PIECE_BYTES):
            self.arrived_bytes += len(piece)
            if self.arrived_bytes > self._held.size_bytes:
                self._take(self.arrived_bytes)
            elif self._held.until - timezone.now() < links.HELD_FOR / 2:
                self._take(self._held.size_bytes, steps=1)
            yield piece

    def _take(self, size_bytes: int, steps: int = 2) -> None:
        """Hold more than needed if the limit allows, since each step is a write to the disk."""
        for times in range(steps, 0, -1):
            self._held.size_bytes = times * size_bytes
            if links.hold_bytes(self._held, timezone.now()):
                return
        raise UploadRefused(413, limit_words())


def add(request: Request, share: Share, part: Part) -> str:
    """Add one file, and return the name it was sent with: its name in the folder would reveal what
    else is there. Strangers don't learn why the service refuses a file, either."""
    refuse_torrent(request, part)
    file = ArrivingFile(share, part)
    with file.hold():
        try:
            uploads.add(request, share.folder, file.part, as_file=True)
        except ServiceRefused as refused:
            log.warning("not received share=%s status=%s", share.pk, refused.status)
            text = _("Ferry couldn't save this file. Ask the person who sent you the link.")
            if refused.outcome == "unknown":
                text = _(
                    "Ferry doesn't know whether this file arrived. Ask the person who sent you "
                    "the link."
                )
            raise UploadRefused(refused.status, text) from refused
    log.info("received file share=%s bytes=%s", share.pk, file.arrived_bytes)
    address = request.META["REMOTE_ADDR"]
    events.record_outsider(events.Kind.FILE_RECEIVED, share.user.username, part.file_name, address)
    return part.file_name


def refuse_torrent(request: Request, part: Part) -> None:
    """Refuse a torrent, which a foreign service would fetch, beyond the limit of the link."""
    if not service_of(request).is_embedded and is_torrent(part.file_name, part.peek(HEAD_BYTES)):
        raise UploadRefused(422, _("This link can't receive torrent files."))


def is_torrent(name: str, head: bytes) -> bool:
    """Return whether a service may read a file as a torrent, by its name or its beginning.

    A torrent begins with the length of its first key, the key, and a value. Few texts do.
    """
    if name.lower().endswith(".torrent"):
        return True
    begins = DICTIONARY_BEGINS.match(head)
    if begins is None:
        return False
    value_at = begins.end() + int(begins[1])
    return value_at >= len(head) or VALUE_BEGINS.match(head, value_at) is not None


def render_page(
    request: Request, share: Share, token: str, names: Sequence[str] = (), error: str = ""
) -> HttpResponse:
    count = len(names)
    done = ngettext("{count} file sent. Thank you.", "{count} files sent. Thank you.", count)
    page = {
        "title": _("Send files to “%(name)s”") % {"name": share},
        "action": reverse("share-receive", args=[token]),
        "done": done.format(count=count_words(count)) if names else "",
        "sent": names,
        "error": error,
    }
    return render(request, "shares/receive.html", {"page": page}, status=422 if error else 200)


def refusal(
    request: Request, token: str, refused: UploadRefused, share: Share | None = None
) -> HttpResponse:
    if is_script(request):
        return uploads.refusal_for_script(request, refused)
    if share is None:
        return redirect("share-page", token)
    return render_page(request, share, token, error=refused.reason)
