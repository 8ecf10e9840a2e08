"""Films of a foreign service, piece by piece."""

from django.http import Http404, HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from webui import streams
from webui.http import Request
from webui.models import Role
from webui.roles import open_to


@require_safe
@open_to(Role.GUEST)
def part(request: Request, token: str) -> HttpResponseBase:
    try:
        found = streams.opened(token, streams.reader_of(request), timezone.now())
    except streams.Unknown as unknown:
        raise Http404 from unknown
    return streams.answer(request, found)
