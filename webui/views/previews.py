"""A file on a page of its own, which Files also opens over the listing."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webui import encodings, policies, texts, typesetting
from webui.folders import Reading
from webui.http import Request
from webui.models import Role
from webui.pages import previews as pages
from webui.pages.addresses import Addresses
from webui.pages.entries import FILE, Entry
from webui.pages.texts import READ, Setting, TextPart, failed_part, is_art, most_lines, text_part
from webui.roles import open_to
from webui.v1.errors import Failure
from webui.views import files, player

SETTING = Setting(typesetting.coloured, typesetting.prose)


@require_safe
@open_to(Role.GUEST)
def show(request: Request, folder: str, file: str) -> HttpResponse:
    reading = files.read(request, folder)
    entry = files.found(reading, f"{FILE}-{file}")
    text = shown_text(request, reading, entry) if entry.preview in READ else None
    around = files.circumstances(request, reading)
    page = pages.preview_page(reading.snapshot, entry, files.look_at(request), around, text)
    if page.kind != "video":
        return render(request, "preview/show.html", {"page": page})
    context = {"page": page, "player": player.page_of(request, reading, entry)}
    response = render(request, "preview/show.html", context)
    response["Content-Security-Policy"] = policies.PLAYER
    return response


def shown_text(request: Request, reading: Reading, entry: Entry) -> TextPart | None:
    """A service that fails just now leaves the page with its ways on."""
    try:
        return text_from(request, reading, entry, place_of(request, "at"))
    except Failure as failure:
        return failed_part(failure)


@require_safe
@open_to(Role.GUEST)
def more(request: Request, folder: str, file: str) -> HttpResponse:
    reading = files.read(request, folder)
    entry = files.found(reading, f"{FILE}-{file}")
    if entry.preview not in READ:
        raise Http404
    text = text_from(request, reading, entry, place_of(request, "from"))
    return render(request, "preview/_piece.html", {"text": text})


def text_from(request: Request, reading: Reading, entry: Entry, start: int) -> TextPart | None:
    """None where it is no text, whatever it is called."""
    asked = request.GET.get("enc", "")
    encoding = asked if asked in encodings.KNOWN else ""
    wanted = texts.Wanted(
        entry.id, entry.size_bytes, start, most_lines(entry), encoding, is_art(entry)
    )
    piece = texts.read(request.v1, wanted)
    at = Addresses(reading.snapshot.folder, files.look_at(request))
    return text_part(entry, piece, at, SETTING) if piece else None


def place_of(request: Request, name: str) -> int:
    asked = request.GET.get(name, "")
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 16 else 0
