"""The preview of a file as a page, which Files also opens over the listing."""

from contextlib import suppress

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render

from webui.contents import encodings
from webui.contents.content_check import expected_file
from webui.files import screen as files_screen
from webui.http.content_types import PLAYER
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library.addresses import Addresses, parse_view_options
from webui.library.bounds import for_visitors
from webui.library.entries import FILE, Entry
from webui.library.folders import Reading
from webui.models import Role
from webui.player import screen as player_screen
from webui.previews import text_pieces, zip_contents
from webui.previews.pages import preview as pages
from webui.previews.pages import text as text_pages
from webui.previews.pages.camera import camera_words
from webui.previews.pages.text import READ, TextPart, failed_part
from webui.previews.typesetting_process import highlight, prose
from webui.v1.errors import Failure


@open_to(Role.GUEST, "GET")
def show(request: Request, folder: str, file: str) -> HttpResponse:
    reading = files_screen.read(request, folder)
    entry = files_screen.find_entry(reading, f"{FILE}-{file}")
    text = shown_text(request, reading, entry) if entry.preview in READ else None
    context = files_screen.context_of(request, reading)
    look = files_screen.look_of(request, reading, context)
    page = pages.preview_page(reading.snapshot, entry, look, context, text)
    kind = pages.kind_of(entry, text)
    if reading.is_part and len(reading.snapshot.contents.entries) == 1:
        page["back_url"] = ""
    if entry.preview == "picture" and service_of(request).is_embedded:
        page |= camera_of(request, entry)
    if entry.preview == "archive" and kind == "none":
        page |= archive_listing(request, entry)
    if kind != "video":
        return render(request, "previews/show.html", {"page": page})
    player = player_screen.page_of(request, reading, entry)
    response = render(request, "previews/show.html", {"page": page, "player": player})
    response["Content-Security-Policy"] = PLAYER
    return response


def archive_listing(request: Request, entry: Entry) -> dict[str, object]:
    """Return the files in the archive for its page, if its directory can be read."""
    try:
        files = zip_contents.files_in(service_of(request).v1, entry.id, expected_file(entry))
    except Failure as failure:
        return {"kind": "text", "text": failed_part(for_visitors(request, failure))}
    return {} if files is None else pages.archive_part(entry, files)


def camera_of(request: Request, entry: Entry) -> dict[str, object]:
    """Return the camera that took the picture, which only our own service reports."""
    with suppress(Failure):
        return {"camera": camera_words(entry, service_of(request).v1.camera(entry.id))}
    return {}


def shown_text(request: Request, reading: Reading, entry: Entry) -> TextPart | None:
    """Return the text, or the failure in its place, so that the page's actions remain."""
    try:
        return text_from(request, reading, entry, position_of(request, "at"))
    except Failure as failure:
        return failed_part(for_visitors(request, failure))


@open_to(Role.GUEST, "GET")
def more(request: Request, folder: str, file: str) -> HttpResponse:
    reading = files_screen.read(request, folder)
    entry = files_screen.find_entry(reading, f"{FILE}-{file}")
    if entry.preview not in READ:
        raise Http404
    text = text_from(request, reading, entry, position_of(request, "from"))
    return render(request, "previews/_piece.html", {"text": text})


@open_to(Role.GUEST, "GET")
def queue(request: Request, folder: str, file: str) -> HttpResponse:
    """Send the tracks that play with this one. In the page itself they would mostly be wasted."""
    reading = files_screen.read(request, folder)
    entry = files_screen.find_entry(reading, f"{FILE}-{file}")
    if entry.preview != "audio":
        raise Http404
    return JsonResponse(pages.queue_of(reading.snapshot, entry, parse_view_options(request.GET)))


def text_from(request: Request, reading: Reading, entry: Entry, start: int) -> TextPart | None:
    """Return the text, or None if the file isn't text, whatever its name."""
    name = request.GET.get("enc", "")
    encoding = name if name in encodings.KNOWN else ""
    most_lines, is_art = text_pages.most_lines(entry), text_pages.is_art(entry)
    text_request = text_pieces.TextRequest(
        entry.id, expected_file(entry), start, most_lines, encoding, is_art
    )
    piece = text_pieces.read(service_of(request).v1, text_request)
    at = Addresses(reading.snapshot.folder, parse_view_options(request.GET))
    return text_pages.text_part(entry, piece, at, highlight, prose) if piece else None


def position_of(request: Request, name: str) -> int:
    value = request.GET.get(name, "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else 0
