"""The Files screen: look at folders, filter and sort them, open what is in them."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webui import delivery, folders, watching
from webui.folders import Reading
from webui.http import Request, unchanged
from webui.models import Role
from webui.pages import files as pages
from webui.pages.addresses import Addresses, Look, folder_url, look_of
from webui.pages.entries import ROOT, Entry, Snapshot
from webui.pages.files import Circumstances, FilesPage, Stale, stale_words
from webui.pages.measures import Calendar
from webui.roles import open_to
from webui.v1.links import Download, Link


@require_safe
@open_to(Role.GUEST)
def root(request: Request) -> HttpResponse:
    return render(request, "files/show.html", {"page": page_of(request, ROOT)})


@require_safe
@open_to(Role.GUEST)
def show(request: Request, folder: str) -> HttpResponse:
    if folder == ROOT:
        return redirect(folder_url(ROOT) + look_at(request).tail)
    page = page_of(request, folder)
    if page.folder == ROOT:
        return redirect(page.url)
    return render(request, "files/show.html", {"page": page})


@require_safe
@open_to(Role.GUEST)
def listing(request: Request, folder: str) -> HttpResponse:
    """With `seen`, the page asks behind whether what it shows is still so; by `look`, for what it
    has changed itself. Neither is a step that Back undoes."""
    look, seen = look_at(request), request.GET.get("seen", "")
    reading = read(request, folder, at_once=bool(seen))
    around = circumstances(request, reading)
    if seen and seen == pages.seen_mark(reading.snapshot, around.stale):
        return unchanged()
    page = pages.files_page(reading.snapshot, look, around)
    response = render(request, "files/_listing.html", {"page": page})
    if request.htmx and not seen and request.htmx.trigger != "look":
        response[address_header(request, look)] = page.url
    return response


def address_header(request: Request, look: Look) -> str:
    """Back undoes a sort or another view, but not each letter of a filter."""
    shown = parse_qs(urlsplit(request.htmx.current_url or "").query)
    is_filter = shown.get("q", [""])[-1] != look.query
    return "HX-Replace-Url" if is_filter else "HX-Push-Url"


@require_safe
@open_to(Role.GUEST)
def rows(request: Request, folder: str) -> HttpResponse:
    """The next window, of what is known already: the page asks for news on its own."""
    return render(request, "files/_rows.html", {"page": page_of(request, folder)})


@require_safe
@open_to(Role.GUEST)
def row(request: Request, folder: str, key: str) -> HttpResponse:
    reading = read(request, folder)
    if not request.htmx:
        return redirect(folder_url(folder))
    return render(request, "files/_row.html", row_context(request, reading, found(reading, key)))


@require_safe
@open_to(Role.GUEST)
def download(request: Request, file: str) -> HttpResponseBase:
    def opening(headers: dict[str, str]) -> Link | Download:
        return request.v1.file_link(file, headers, request.method or "GET")

    return delivery.deliver(request, request.service, opening, f"file-{file}")


# What every view of this screen begins with


def read(request: Request, folder: str, *, at_once: bool = False) -> Reading:
    """A reader who presses Reload wants to know it now."""
    is_reload = request.headers.get("Cache-Control") in ("max-age=0", "no-cache")
    return folders.read(request.service, folder, now=timezone.now(), at_once=at_once or is_reload)


def page_of(request: Request, folder: str, *, at_once: bool = False) -> FilesPage:
    reading = read(request, folder, at_once=at_once)
    around = circumstances(request, reading)
    if reading.snapshot.is_root:
        begun = watching.continued(request.user, request.service, timezone.now())
        around = replace(around, begun=begun)
    return pages.files_page(reading.snapshot, look_at(request), around)


def look_at(request: Request) -> Look:
    return look_of(request.GET.dict())


def circumstances(request: Request, reading: Reading) -> Circumstances:
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    service = request.service
    return Circumstances(
        calendar=calendar,
        origin=request.build_absolute_uri("/")[:-1],
        may_change=Role(request.user.role).includes(Role.MEMBER),
        stale=stale_of(reading, calendar),
        is_fresh=reading.is_fresh,
        takes_folder=service.takes_folder,
        thumbs_by_kind=not service.is_embedded,
        ancestors=folders.above(service, reading.snapshot),
        marks=watching.positions(request.user, service, reading.snapshot.folder),
    )


def stale_of(reading: Reading, calendar: Calendar) -> Stale | None:
    if reading.failure is None:
        return None
    return stale_words(calendar.since(reading.snapshot.read_at), reading.failure)


def found(reading: Reading, key: str) -> Entry:
    entry = reading.snapshot.contents.find(key)
    if entry is None:
        raise Http404
    return entry


def row_context(request: Request, reading: Reading, entry: Entry) -> dict[str, object]:
    around = circumstances(request, reading)
    look = shown_look(request)
    at = Addresses(reading.snapshot.folder, look)
    page = pages.files_page(without_rows(reading.snapshot), look, around)
    return {"row": pages.row(entry, at, around), "page": page}


def shown_look(request: Request) -> Look:
    """The look of the page that a fragment goes into; a view that is sent along counts more."""
    query = parse_qs(urlsplit(request.htmx.current_url or "").query)
    shown = {name: values[-1] for name, values in query.items()} | request.GET.dict()
    view = request.POST.get("view")
    return look_of(shown | ({"view": view} if view else {}))


def without_rows(snapshot: Snapshot) -> Snapshot:
    """For templates that need a page around one row, and none of the others."""
    return replace(snapshot, contents=type(snapshot.contents)([]))
