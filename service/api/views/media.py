"""Serve pictures of a file, and links to its playable forms."""

from contextlib import suppress

from django.http import HttpResponse
from msgspec import UNSET, convert

from service.api.auth import AccountRequest
from service.api.inputs import SizeInput
from service.api.outcomes import Picture, PlayableLink
from service.api.records import (
    CameraResult,
    Filmstrip,
    Playable,
    ScenesResult,
    SubtitlesNotShown,
    percent,
)
from service.content import playback_views, signed_links
from service.content.views import picture_answer
from service.errors import Busy, CannotConvert, NotFound
from service.http import responses
from service.library import library
from service.media.content_folders import content_of
from service.media.hls.plans import PlaybackPlan
from service.media.hls.playlists import distinct, name_of
from service.media.pictures import sizes
from service.media.pictures.filmstrips import has_filmstrip
from service.media.probe import Chapter, chapters_of
from service.media.probing import find_media
from service.media.serving import workers
from service.models import Media


def thumbnail(request: AccountRequest, file_id: int) -> Picture:
    return picture_answer(request, library.file(request.account, file_id), sizes.THUMBNAIL.name)


def image(request: AccountRequest, file_id: int, sent: SizeInput) -> Picture:
    """Return the preview, or a size that listings name."""
    size = sizes.PREVIEW if sent.pixels is UNSET else sizes.BY_WIDTH.get(sent.pixels, sizes.PREVIEW)
    return picture_answer(request, library.file(request.account, file_id), size.name)


def camera(request: AccountRequest, file_id: int) -> CameraResult:
    """Return the camera and the settings of a picture, as far as the picture names them.

    This isn't in the specification.
    """
    file = library.file(request.account, file_id)
    media = find_media(content_of(file))
    return convert(media.camera if media and media.camera else {}, CameraResult)


def scenes(request: AccountRequest, file_id: int) -> ScenesResult:
    """Return what helps to find a scene: the chapters of a film, and its filmstrip once it is made.

    This isn't in the specification.
    """
    file = library.file(request.account, file_id)
    content = content_of(file)
    media = find_media(content)
    if media is None or media.kind != Media.Kind.VIDEO:
        raise NotFound
    chapters: list[Chapter] = []
    with suppress(Busy, CannotConvert):
        chapters = chapters_of(workers.ask(file, "chapters"))
    if not has_filmstrip(content):
        return ScenesResult(chapters=chapters)
    link = signed_links.link(
        request.account, "picture", str(file.pk), sizes.FILMSTRIP, now=request.now
    )
    filmstrip = Filmstrip(request.build_absolute_uri(link), sizes.FRAMES, sizes.FRAMES_IN_ROW)
    return ScenesResult(chapters=chapters, filmstrip=filmstrip)


def hls(request: AccountRequest, file_id: int) -> PlayableLink:
    """Return the link to the master playlist, which is complete from its first response on."""
    file = library.file(request.account, file_id)
    plan = playback_views.plan_of(file)
    playback_views.begin(file)
    link = playback_views.stream_link(request.account, file, now=request.now)
    url = request.build_absolute_uri(link)
    return link_answer(Playable(url=url, subtitles_not_shown=not_shown(plan, url) or UNSET))


def not_shown(plan: PlaybackPlan, url: str) -> list[SubtitlesNotShown]:
    names = distinct([name_of(each, order) for order, each in enumerate(plan.hidden, 1)])
    return [
        SubtitlesNotShown(
            name=name,
            language=each.language,
            title=each.title,
            codec=each.codec,
            url=playback_views.burned_link(url, each) if plan.pictures_with(each.track) else UNSET,
        )
        for name, each in zip(names, plan.hidden, strict=True)
    ]


def mp4(request: AccountRequest, file_id: int) -> PlayableLink:
    """Return the link to the file as MP4, which responds with 503 until the MP4 is ready."""
    file = library.file(request.account, file_id)
    progress = playback_views.request_mp4(file)
    link = playback_views.film_link(request.account, file, now=request.now)
    url = request.build_absolute_uri(link)
    if progress is None:
        return link_answer(Playable(url=url))
    return link_answer(Playable(url=url, converting=True, progress=percent(progress)))


def link_answer(playable: Playable) -> HttpResponse:
    response = responses.in_json(playable)
    response["Location"] = playable.url
    return response
