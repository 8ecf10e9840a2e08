"""Pictures of files, small and large, fetched from the service once and cached by hash."""

from collections.abc import Iterator
from contextlib import suppress

from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from webui.http.content_types import IMMUTABLE, LOCKED_HEADERS
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.entries import OWN_PICTURE, PICTURE_PIXELS, Entry
from webui.models import Role
from webui.previews import thumbnail_cache
from webui.v1.errors import Conflict, Failure, Forbidden, NotFound, Rejected, Unreadable
from webui.v1.links import Download

# Failures that asking again wouldn't change.
FINAL = (NotFound, Rejected, Forbidden, Conflict, Unreadable)


@open_to(Role.GUEST, "GET")
def thumb(request: Request, file: str, version: str) -> HttpResponse:
    entry = entry_in(request, file)
    picture = find_or_fetch(request, file, entry, "")
    return picture_answer(picture, entry, version)


@open_to(Role.GUEST, "GET")
def image(request: Request, file: str, version: str) -> HttpResponse:
    """Send a large picture. If the service makes none of an image file, redirect to the file."""
    entry = entry_in(request, file)
    picture = find_or_fetch(request, file, entry, " large")
    if picture is None and entry and entry.is_showable_picture:
        return redirect(f"{reverse('stream-original', args=[file])}?in={request.GET['in'][:64]}")
    return picture_answer(picture, entry, version)


def find_or_fetch(
    request: Request, file: str, entry: Entry | None, kind: str
) -> bytes | HttpResponse | None:
    """Return a picture by the version in the listing: readers can invent others, and files, too."""
    opener, most_bytes = KINDS[kind]

    def fetch() -> Iterator[bytes]:
        with suppress(*FINAL), opener(request, file) as download:
            if download.status == 200:
                yield from download

    try:
        if entry is None:
            return thumbnail_cache.fetch_once(fetch, most_bytes)
        key = f"{service_of(request).key} {file} {entry.version}{kind}"
        return thumbnail_cache.store().get(key, fetch, most_bytes)
    except (Failure, TimeoutError):
        return HttpResponse(status=503, headers={"Retry-After": "30"})


def picture_answer(
    picture: bytes | HttpResponse | None, entry: Entry | None, version: str
) -> HttpResponse:
    if isinstance(picture, HttpResponse):
        return picture
    if picture is None:
        raise Http404
    is_latest = entry is not None and entry.version == version
    return HttpResponse(
        picture,
        content_type=thumbnail_cache.type_of(picture[:32]),
        headers=LOCKED_HEADERS | ({"Cache-Control": IMMUTABLE} if is_latest else {}),
    )


def small(request: Request, file: str) -> Download:
    """Open the thumbnail by the link in the listing, or else through the service. Links are tried
    only once: a page of pictures that waited for a busy service would occupy all threads."""
    entry, v1 = entry_in(request, file), service_of(request).v1
    link = entry.picture if entry else ""
    if link and link != OWN_PICTURE:
        return v1.open(link, insists=False)
    source = v1.picture(file, PICTURE_PIXELS) if link else v1.thumbnail(file)
    return v1.open(source, insists=False)


def large(request: Request, file: str) -> Download:
    v1 = service_of(request).v1
    return v1.open(v1.image(file))


def entry_in(request: Request, file: str) -> Entry | None:
    """Return the entry with its links, or None if its listing is no longer cached."""
    return folders.listed_file(service_of(request), request.GET.get("in", ""), file)


# How each kind is opened, and how large it may be. The cache knows pictures by their kinds.
KINDS = {
    "": (small, thumbnail_cache.MOST_BYTES),
    " large": (large, thumbnail_cache.MOST_LARGE_BYTES),
}
