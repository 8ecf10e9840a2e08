"""Playlists, segments, and films, by signed link."""

import os
import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from socket import socket
from typing import BinaryIO

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import path, reverse
from django.utils import timezone

from common.http.content_disposition import disposition
from common.http.content_types import LOCKED
from common.names import safe_name
from service.content import signed_links
from service.content.disposition import Presentation
from service.content.range_responses import InOneFile, answer, presentation_headers, with_headers
from service.content.views import StoredFile, reading
from service.errors import Busy, NotFound
from service.http import responses
from service.library import library
from service.media import probing, refusals
from service.media.cache import RENDITIONS, is_there, process_cache, touch
from service.media.content_folders import content_of
from service.media.hls import films, plans, playlists
from service.media.hls.plans import Hidden, PlaybackPlan
from service.media.hls.renditions import Rendition, RenditionKind
from service.media.serving import requests as media_requests
from service.media.serving import workers
from service.models import Account, File, Media
from service.store.blobs import library_store

# No other paths exist below a link.
BURNED = re.compile(r"burned-(?P<track>0|[1-9][0-9]{0,3})\.m3u8")
INSIDE = re.compile(
    r"(?P<rendition>[a-z][a-z0-9]{0,15})/"
    r"(?:(?P<index>index\.m3u8)|(?P<init>init\.mp4)|(?P<number>0|[1-9][0-9]{0,5})\.(?:m4s|vtt))"
)
BEGINNING_BYTES = 16 * 1024
PLAYLIST, WORDS = "application/vnd.apple.mpegurl", "text/vtt; charset=utf-8"
TYPES = {
    RenditionKind.PICTURE: "video/mp4",
    RenditionKind.SOUND: "audio/mp4",
    RenditionKind.TEXT: WORDS,
}


# Links


def stream_link(account: Account, file: File, *, now: datetime) -> str:
    """Return the link to a stream, signed in the path, so that paths in playlists need no other."""
    ticket = signed_links.signed_ticket(account, "hls", str(file.pk), now=now)
    return reverse("content-stream", args=[account.pk, file.pk, ticket, signed_links.MASTER])


def burned_link(stream: str, hidden: Hidden) -> str:
    """Return the link to a stream whose pictures contain these subtitles."""
    return f"{stream.removesuffix(signed_links.MASTER)}burned-{hidden.track}.m3u8"


def film_link(account: Account, file: File, *, now: datetime) -> str:
    name = f"{safe_name(file.name).rpartition('.')[0] or 'film'}.mp4"
    return signed_links.link(account, "film", str(file.pk), name, now=now)


# Requests to the worker


def plan_of(file: File) -> PlaybackPlan:
    """Return the file's plan, or have the worker make it. Raises CannotConvert, Busy, NotFound."""
    folder = content_of(file).folder / RENDITIONS
    if plan := find_plan(folder):
        return plan
    refuse_unplayable(file, folder)
    workers.ask(file, "plan")
    if plan := find_plan(folder):
        return plan
    raise Busy


def find_plan(folder: Path) -> PlaybackPlan | None:
    """Return the plan that this machine or another one has made."""
    plan = plans.find_plan(folder)
    if plan is None and library_store().fetch_published(folder / plans.PLAN):
        plan = plans.find_plan(folder)
    return plan


def rendition_of(file: File, name: str) -> Rendition | None:
    """Return a rendition of the file's plan; another machine may have a newer plan."""
    rendition = plan_of(file).rendition(name)
    plan_path = content_of(file).folder / RENDITIONS / plans.PLAN
    if rendition is None and library_store().fetch_published(plan_path):
        rendition = plan_of(file).rendition(name)
    return rendition


def begin(file: File) -> None:
    """Have the worker start on the first segments, which a player is about to request."""
    media_requests.tell("begin", workers.rank_for(file), file=file.pk)


def refuse_unplayable(file: File, folder: Path) -> None:
    """Raise CannotConvert without the worker if the file is known not to be playable."""
    refusals.raise_remembered(folder)
    media = probing.find_media(content_of(file))
    if media is not None and media.state != Media.State.WANTED:
        probing.refuse_unplayable(media)


def request_mp4(file: File) -> float | None:
    """Request the file's MP4, and return its progress; None once it is ready.

    Raises CannotConvert, Busy.
    """
    folder = films.folder_of(content_of(file))
    if films.is_ready(folder):
        return None
    refuse_unplayable(file, folder)
    try:
        reply = workers.ask(file, "film")
    except Busy:
        if films.is_ready(folder):
            return None
        raise
    # It may have become ready while the worker was answering.
    is_ready = reply["is_ready"] or films.is_ready(folder)
    return None if is_ready else float(reply["progress"])


# Views


@reading
def stream(
    request: HttpRequest, account_id: int, file_id: int, ticket: str, name: str
) -> HttpResponseBase:
    query = signed_links.query_of(ticket)
    account = signed_links.check(account_id, "hls", str(file_id), query, now=timezone.now())
    file = library.file(account, file_id)
    if name == signed_links.MASTER:
        return playlist_answer(request, playlists.master(plan_of(file)))
    if burned := BURNED.fullmatch(name):
        return playlist_answer(request, burned_playlist(plan_of(file), int(burned["track"])))
    inside = INSIDE.fullmatch(name)
    rendition = rendition_of(file, inside["rendition"]) if inside else None
    if inside is None or rendition is None:
        raise NotFound
    if inside["index"]:
        return playlist_answer(request, playlists.media(rendition))
    client = request.META.get("gunicorn.socket")
    return answer(request, segment(file, rendition, inside, client))


def burned_playlist(plan: PlaybackPlan, track: int) -> str:
    if not plan.pictures_with(track):
        raise NotFound
    return playlists.master(plan, track)


def segment(
    file: File, rendition: Rendition, inside: re.Match[str], client: socket | None
) -> "MediaFile":
    """Return a segment, made now if it is missing. Raises NotFound, Busy, CannotConvert."""
    name = inside[0].rpartition("/")[2]
    if name.endswith(".vtt") != (rendition.kind == RenditionKind.TEXT):
        raise NotFound
    segment_path = content_of(file).folder / RENDITIONS / rendition.name / name
    if not process_cache().has(segment_path):
        if inside["init"]:
            workers.ask(file, "init", rendition=rendition.name)
        else:
            number = int(inside["number"])
            workers.ask(file, "segment", client, rendition=rendition.name, number=number)
        if not process_cache().has(segment_path):
            raise Busy
    touch(segment_path)
    return MediaFile(segment_path, TYPES[rendition.kind], f"{file.sha1}-{rendition.name}-{name}")


@reading
def film(request: HttpRequest, account_id: int, file_id: int, name: str) -> HttpResponseBase:
    """Serve the file as MP4; 503 until the MP4 is made."""
    account = signed_links.check(account_id, "film", str(file_id), request.GET, now=timezone.now())
    file = library.file(account, file_id)
    folder = films.folder_of(content_of(file))
    if request_mp4(file) is not None:
        raise Busy
    if is_there(folder / films.HOW) or library_store().fetch_published(folder / films.HOW):
        # The file itself is served as MP4, whatever its name.
        own_film = StoredFile(file, library_store(), inline=True)
        own_film.presentation = inline_presentation("video/mp4", name)
        return answer(request, own_film)
    touch(folder / films.FILM)
    return answer(request, MediaFile(folder / films.FILM, "video/mp4", f"{file.sha1}-film", name))


class MediaFile(InOneFile):
    """A file that was made from a medium.

    If it is made again, an encoder may write other bytes of the same size. Its beginning lists the
    size of every frame, so the ETag depends on it.
    """

    modified_seconds: int | None = None

    def __init__(self, file_path: Path, content_type: str, tag: str, name: str = "") -> None:
        self._path = file_path
        with self._open() as file:
            beginning = file.read(BEGINNING_BYTES)
            self.size_bytes = file.seek(0, os.SEEK_END)
        self.etag = f'"{tag}-{self.size_bytes:x}-{sha256(beginning).hexdigest()[:16]}"'
        self.presentation = inline_presentation(content_type, name or file_path.name)

    def _open(self) -> BinaryIO:
        try:
            return open(self._path, "rb", buffering=0)
        except FileNotFoundError:
            return library_store().open_published(self._path)
        except OSError as gone:
            raise NotFound from gone


def playlist_answer(request: HttpRequest, text: str) -> HttpResponseBase:
    """Return a playlist, made for each request; the ETag is a hash of its text."""
    body = text.encode()
    etag = f'"{sha256(body).hexdigest()[:32]}"'
    response = responses.unless_known(request, etag, lambda: HttpResponse(body))
    presentation = inline_presentation(PLAYLIST, signed_links.MASTER)
    return with_headers(response, presentation_headers(presentation))


def inline_presentation(content_type: str, name: str) -> Presentation:
    return Presentation(content_type, disposition("inline", name), LOCKED)


urlpatterns = [
    path(
        "hls/<int:account_id>/<int:file_id>/<str:ticket>/<path:name>", stream, name="content-stream"
    ),
    path("film/<int:account_id>/<int:file_id>/<path:name>", film, name="content-film"),
]
