from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from webui.http.content_types import IMMUTABLE, LOCKED_HEADERS
from webui.http.requests import Request, plain_text, service_of
from webui.http.roles import open_to
from webui.models import Role
from webui.player import subtitles
from webui.v1.errors import Unreadable


@require_safe
@open_to(Role.GUEST)
def show(request: Request, folder: str, file: str, sub: str) -> HttpResponse:
    """Send the subtitle file `sub`. The URL names the film only for people."""
    version, language = request.GET.get("mark", "")[:80], request.GET.get("lang", "")[:10]
    try:
        text = subtitles.read(service_of(request), folder, sub, language, version)
    except TimeoutError:
        return HttpResponse(status=503, headers={"Retry-After": "5"})
    except Unreadable as failure:
        if failure.reason != "too_large":
            raise
        return plain_text(_("Ferry can't show subtitles for a file this large."), 422)
    if not text:
        return plain_text(_("This file doesn't have any subtitles."), 422)
    cache_headers = {"Cache-Control": IMMUTABLE if version else "private, no-cache"}
    return HttpResponse(
        text, content_type="text/vtt; charset=utf-8", headers=LOCKED_HEADERS | cache_headers
    )
