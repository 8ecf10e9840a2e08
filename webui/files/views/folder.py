"""The Files screen: browse, filter, and sort folders, and open their entries."""

from functools import partial
from urllib.parse import parse_qs, urlsplit

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from webui.contents import relayed_files
from webui.contents.content_check import UNLISTED, expected_file
from webui.files import screen
from webui.files.pages import folder as pages
from webui.files.pages.actions import details_page
from webui.http.requests import Request, no_content, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import ViewOptions, folder_url, parse_view_options
from webui.library.entries import ROOT
from webui.models import Role
from webui.v1.errors import Unreadable


@open_to(Role.GUEST, "GET")
def root(request: Request) -> HttpResponse:
    return screen.render_page(request, screen.page_of(request, ROOT, remembers=True))


@open_to(Role.GUEST, "GET")
def show(request: Request, folder: str) -> HttpResponse:
    if folder == ROOT:
        return redirect(folder_url(ROOT) + parse_view_options(request.GET).tail)
    page = screen.page_of(request, folder, remembers=True)
    if page.folder == ROOT:
        return redirect(page.url)
    return screen.render_page(request, page)


@open_to(Role.GUEST, "GET")
def listing(request: Request, folder: str) -> HttpResponse:
    """Render the listing. With `seen`, the page checks in the background whether it is up to date;
    by `look`, it fetches its own changes. Back undoes neither."""
    seen = request.GET.get("seen", "")
    reading = screen.read(request, folder, at_once=bool(seen))
    context = screen.context_of(request, reading)
    if seen and seen == pages.seen_version(reading.snapshot, context.stale):
        return no_content()
    look = screen.look_of(request, reading, context)
    is_chosen = request.htmx and not seen and request.htmx.trigger != "look"
    if is_chosen:
        look = screen.remember_order(request, reading, look)
    context = screen.with_interrupted(request, context, folder)
    page = pages.files_page(reading.snapshot, look, context)
    response = render(request, "files/_listing.html", {"page": page})
    if is_chosen:
        response[address_header(request, look)] = page.url
    return response


def address_header(request: Request, look: ViewOptions) -> str:
    """Choose the header: Back undoes another view, but neither each letter of a filter nor an
    order, which would still be remembered."""
    query = parse_qs(urlsplit(request.htmx.current_url or "").query)
    is_view = query.get("view", ["list"])[-1] != look.view or look.first
    return "HX-Push-Url" if is_view else "HX-Replace-Url"


@open_to(Role.GUEST, "GET")
def rows(request: Request, folder: str) -> HttpResponse:
    """Render the next rows without forcing a refresh: the page checks for changes separately.
    Before rows that the page fetches again, it may show others, which `page` doesn't count."""
    page = screen.page_of(request, folder)
    counts = not (page.more_url and "again" in request.GET)
    return render(request, "files/_rows.html", {"page": page, "counts": counts})


@open_to(Role.GUEST, "GET")
def row(request: Request, folder: str, key: str) -> HttpResponse:
    reading = screen.read(request, folder)
    if not request.htmx:
        return redirect(folder_url(folder))
    return render(request, "files/_row.html", screen.row_context(request, reading, key))


@open_to(Role.GUEST, "GET")
def details(request: Request, folder: str) -> HttpResponse:
    snapshot = screen.read(request, folder).snapshot
    below, _listings = screen.count_below(request, snapshot.folder, screen.MOST_LISTINGS)
    above = [name for _folder, name in folders.ancestors(service_of(request), snapshot)]
    page = details_page(snapshot, above, below)
    template = "files/_details.html" if request.htmx else "files/details.html"
    return render(request, template, {"page": page})


@open_to(Role.GUEST, "GET")
def download(request: Request, file: str) -> HttpResponseBase:
    """Download a file, compared with its listing. If they differ, the listing may be out of date,
    so the next try reads it again."""
    service, folder = service_of(request), request.GET.get("in", "")
    entry = None if service.is_embedded else folders.find_file(service, folder, file)
    expected = expected_file(entry) if entry or service.is_embedded else UNLISTED
    try:
        return relayed_files.deliver(request, partial(service.v1.file_link, file), expected)
    except Unreadable:
        if entry is not None:
            folders.mark_changed(service, [folder])
        raise
