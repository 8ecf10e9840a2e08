"""The tags of a track, which the music player requests when it reaches the track."""

from django.http import Http404, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from webui.contents.content_check import expected_file
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.models import Role
from webui.player import tags

# A file never changes, so playing an album again needn't read the tags again.
CACHE_CONTROL = "private, max-age=3600"


@require_safe
@open_to(Role.GUEST)
def show(request: Request, file: str) -> HttpResponse:
    entry = folders.find_file(service_of(request), request.GET.get("in", ""), file)
    if entry is None or entry.preview != "audio":
        raise Http404
    audio_tags = tags.read_tags(service_of(request).v1, file, expected_file(entry))
    return JsonResponse(audio_tags, headers={"Cache-Control": CACHE_CONTROL})
