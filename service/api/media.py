"""Pictures and playable forms of a file."""

from typing import Any

from django.http import HttpResponse, HttpResponseBase

from service import library, playback
from service.api import answers
from service.api.http import Request
from service.media import pictures
from service.media.sizes import BY_WIDTH, PREVIEW, THUMBNAIL
from service.representation import picture_answer


def thumbnail(request: Request, file_id: int) -> HttpResponseBase:
    return shown(request, file_id, THUMBNAIL.name)


def image(request: Request, file_id: int) -> HttpResponseBase:
    """The preview, or one of those that listings name."""
    size = BY_WIDTH.get(request.GET.get("pixels", ""), PREVIEW)
    return shown(request, file_id, size.name)


def shown(request: Request, file_id: int, size: str) -> HttpResponseBase:
    """Only if one exists: else NotFound."""
    picture = pictures.read(library.file(request.account, file_id), size)
    return picture_answer(request, picture, pictures.type_of(picture))


def hls(request: Request, file_id: int) -> HttpResponse:
    """Where its master playlist is, which is complete from the first answer on."""
    file = library.file(request.account, file_id)
    hidden = [vars(each) for each in playback.plan_of(file).hidden]
    link = playback.stream_link(request.account, file, now=request.now)
    return leads_to_stream(request, link, {"subtitles_not_shown": hidden} if hidden else {})


def mp4(request: Request, file_id: int) -> HttpResponse:
    """Where it is or, answering 503 until then, will be."""
    file = library.file(request.account, file_id)
    facts = playback.film_of(file)
    link = playback.film_link(request.account, file, now=request.now)
    return leads_to_stream(request, link, facts)


def leads_to_stream(request: Request, link: str, more: dict[str, Any]) -> HttpResponse:
    url = request.build_absolute_uri(link)
    response = answers.record({"result": True, "code": 200, "url": url, **more})
    response["Location"] = url
    return response
