"""Films of a foreign service, relayed piece by piece."""

from django.http import Http404, HttpResponseBase
from django.utils import timezone

from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role
from webui.streams import streams
from webui.v1.errors import Unreadable


@open_to(Role.GUEST, "GET")
def part(request: Request, token: str) -> HttpResponseBase:
    target = streams.decrypt(token, streams.reader_of(request), timezone.now())
    if target is None:
        raise Http404
    try:
        return streams.answer(request, target)
    except Unreadable as unreadable:
        # Players give up on a missing piece, but retry after a server error.
        if unreadable.reason == "dead_link":
            raise Http404 from unreadable
        raise
