"""Films and music: where they can be played, how far a person got, subtitles, and tags."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.contents.content_check import expected_file
from webui.http.content_types import IMMUTABLE, LOCKED_HEADERS
from webui.http.requests import Request, plain_text, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.bounds import bounds_of, for_visitors
from webui.library.entries import ROOT
from webui.models import Role
from webui.player import resume_positions, subtitles, tags
from webui.player.pages import film as page
from webui.player.resume_positions import Film
from webui.player.subtitle_languages import code_of
from webui.streams import streams
from webui.v1.errors import Failure, NotFound, Rejected, TooMany, Unavailable, Unreadable
from webui.v1.links import Link
from webui.v1.own_records import Scenes
from webui.v1.records import BurnedSubtitles, Playable
from webui.words.failures import message_of

# A file never changes, so playing an album again needn't read the tags again.
TAGS_CACHE_CONTROL = "private, max-age=3600"


# Playable URLs


@open_to(Role.GUEST, "GET")
def playable(request: Request, file: str, kind: str) -> HttpResponse:
    """Send where a film can be played. A refusal is a normal response: the player tries its other
    sources, and shows a reason if none works."""
    v1 = service_of(request).v1
    try:
        answer = where(request, v1.hls(file) if kind == "hls" else v1.mp4(file), file, kind)
    except Failure as failure:
        state = "away" if isinstance(failure, Unavailable | TooMany) else "none"
        answer = source(state, reason=why_not(for_visitors(request, failure)))
    return JsonResponse(answer, headers={"Cache-Control": "private, no-store"})


def where(request: Request, playable: Playable, file: str, kind: str) -> Mapping[str, Any]:
    """Describe the source. Links of our own service are paths, so that they work under every host
    name of Ferry. The site relays films of a foreign service, and films for visitors."""
    if playable.is_converting:
        return source("converting", progress=playable.progress_percent)
    burned = [*burned_sources(request, playable, file, kind)]
    return source(kind, url_of(request, playable, file, kind)) | {"burned": burned}


def burned_sources(
    request: Request, playable: Playable, file: str, kind: str
) -> Iterator[Mapping[str, str]]:
    """Yield the film with each of the subtitles that are pictures. It plays without them, too."""
    for each in playable.burned:
        with suppress(Failure):
            url = url_of(request, each, file, kind)
            yield {"name": each.name, "lang": code_of(each.language), "url": url}


def url_of(request: Request, playable: Playable | BurnedSubtitles, file: str, kind: str) -> str:
    if service_of(request).is_embedded and playable.url and not bounds_of(request):
        return Link(playable.url, is_ours=True).path_and_query
    return streams.playable(request, playable, file, kind, timezone.now())


def source(
    kind: str, url: str = "", *, progress: float | None = None, reason: str = ""
) -> dict[str, Any]:
    return {"kind": kind, "url": url, "progress": progress, "reason": reason}


@open_to(Role.GUEST, "GET")
def scenes(request: Request, file: str) -> HttpResponse:
    """Send chapters and filmstrip of a film, which only our own service has. Without these, the
    player does what it can."""
    facts = Scenes()
    if service_of(request).is_embedded:
        with suppress(Failure):
            facts = service_of(request).v1.scenes(file)
    answer = page.scenes(facts, has_filmstrip=not bounds_of(request))
    return JsonResponse(answer, headers={"Cache-Control": "private, no-store"})


def why_not(failure: Failure) -> str:
    if isinstance(failure, NotFound):
        return _("This file no longer exists.")
    if failure.message:
        return failure.message
    if isinstance(failure, Rejected):
        return _("The storage service couldn't convert this file.")
    return f"{message_of(failure).title}."


# How far a person got


@open_to(Role.GUEST, "POST")
def position(request: Request, file: str) -> HttpResponse:
    """Save a resume position. Pages that close send it too, so nothing reads the response."""
    film = film_of(request, file)
    at, of = number_of(request, "at"), number_of(request, "of")
    if film and at is not None:
        resume_positions.save_position(request.user, film, at, of or 0.0, timezone.now())
    return HttpResponse(status=204)


@open_to(Role.GUEST, "POST")
def set_watched(request: Request, file: str) -> HttpResponse:
    film = film_of(request, file)
    is_watched = request.POST.get("watched") == "1"
    if film:
        resume_positions.set_watched(request.user, film, timezone.now(), is_watched=is_watched)
    return redirect(folder_url(ROOT if film is None or "at_front" in request.POST else film.folder))


def film_of(request: Request, file: str) -> Film | None:
    """Return the film, or None for an unlisted file, so that nothing is saved about it."""
    folder = request.POST.get("folder", "")
    entry = folders.listed_file(service_of(request), folder, file)
    return Film(service_of(request), folder, entry) if entry else None


def number_of(request: Request, name: str) -> float | None:
    try:
        number = float(request.POST.get(name, "")[:32])
    except ValueError:
        return None
    return number if isfinite(number) else None


# What comes with a film or track


@open_to(Role.GUEST, "GET")
def show_subtitles(request: Request, folder: str, file: str, sub: str) -> HttpResponse:
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


@open_to(Role.GUEST, "GET")
def show_tags(request: Request, file: str) -> HttpResponse:
    entry = folders.find_file(service_of(request), request.GET.get("in", ""), file)
    if entry is None or entry.preview != "audio":
        raise Http404
    audio_tags = tags.read_tags(service_of(request).v1, file, expected_file(entry))
    return JsonResponse(audio_tags, headers={"Cache-Control": TAGS_CACHE_CONTROL})
