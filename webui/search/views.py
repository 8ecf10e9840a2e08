"""Search the whole library, as you type."""

from contextlib import suppress
from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.errors import answers as error_answers
from webui.files import changes
from webui.files.pages.folder import FilmInProgress, film_in_progress
from webui.files.pages.rows import FilesContext
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders, recent_folders
from webui.library.entries import FILE, FOLDER, ROOT
from webui.library.folders import Reading
from webui.models import Role
from webui.moving.page import folder_picker
from webui.player import resume_positions
from webui.search import name_index
from webui.search import page as pages
from webui.search.coverage import Coverage
from webui.search.page import SearchContext, SearchRequest, parse_search
from webui.v1.errors import NotFound, Rejected
from webui.v1.own_records import SearchResult
from webui.words import joining
from webui.words.formatting import Calendar


@open_to(Role.GUEST, "GET")
def show(request: Request) -> HttpResponse:
    page = page_of(request, parse_search(request.GET.dict()))
    return render(request, "search/show.html", {"page": page})


@open_to(Role.GUEST, "GET")
def results(request: Request) -> HttpResponse:
    """Render the results alone. The address follows, so that Back returns to them."""
    search = parse_search(request.GET.dict())
    page = page_of(request, search)
    # Don't announce results that the page refreshes by itself.
    is_poll = bool(request.htmx) and request.htmx.trigger == "results"
    response = render(request, "search/_results.html", {"page": page, "is_poll": is_poll})
    response["HX-Replace-Url"] = reverse("search") + search.tail
    return response


@open_to(Role.GUEST, "GET")
def elsewhere(request: Request, folder: str) -> HttpResponse:
    """Render what the filter of a folder would find in other folders."""
    search = SearchRequest(query=parse_search(request.GET.dict()).query)
    # The first results may all be in this folder.
    result, _covers = find(request, replace(search, has_all=True))
    page = pages.elsewhere_page(result, search, context_of(request), folder)
    return render(request, "search/_elsewhere.html", {"page": page})


@open_to(Role.MEMBER, "GET", "POST")
def choose(request: Request) -> HttpResponse:
    """Show folders to choose from: those in the open folder, or those that have the name. On POST,
    create a folder first, and open it."""
    reading, new, error = read_target(request), request.POST.get("new", "").strip(), ""
    if new:
        reading, error = changes.make_folder(request, reading, new)
    target, is_opened = reading.snapshot, "open" in request.GET
    query = "" if is_opened else parse_search(request.GET.dict()).query
    search = SearchRequest(query, kind=FOLDER, has_all=True)
    result, covers = find(request, search) if query else (None, None)
    recent = () if query or is_opened else recent_folders.read_recent(request)
    above = folders.ancestors(service_of(request), target)
    page = folder_picker(target, above, recent, query, result)
    # Say how much was searched, unless there is more to say about the results.
    page = replace(page, more=page.more or joining.sentences(pages.coverage_texts(covers)))
    template = "search/_choose.html" if request.htmx else "search/choose.html"
    context = {"page": page, "new": new if error else "", "error": error}
    return render(request, template, context, status=422 if error and not request.htmx else 200)


@open_to(Role.GUEST, "GET")
def largest(request: Request) -> HttpResponse:
    if not service_of(request).is_embedded:
        text = _("The storage service can't list its largest files.")
        return error_answers.plain(request, 404, text=text)
    context = context_of(request)
    files = [(FILE, each) for each in service_of(request).v1.largest_files()]
    rows = pages.found_rows(files, context, next_url="")
    values = {"rows": rows, "may_change": context.may_change}
    return render(request, "search/largest.html", values)


def read_target(request: Request) -> Reading:
    """Return the folder that the dialog shows; the root instead of one that is gone."""
    fields = request.POST or request.GET
    folder = fields.get("open") or fields.get("to") or ROOT
    service, now = service_of(request), timezone.now()
    try:
        return folders.read(service, folder[: folders.LONGEST_ID], now=now)
    except NotFound:
        return folders.read(service, ROOT, now=now)


def page_of(request: Request, search: SearchRequest) -> dict[str, object]:
    folder_name = name_of(request, search.folder)
    search = search if folder_name else replace(search, folder="")
    result, covers = find(request, search)
    begun = films_in_progress(request, search)
    context = replace(context_of(request), folder_name=folder_name, begun=begun, covers=covers)
    return pages.search_page(result, search, context)


def name_of(request: Request, folder: str) -> str:
    """Return the folder's name, or an empty string for the root and for folders that are gone."""
    if not folder:
        return ""
    with suppress(NotFound, Rejected):
        folder = folder[: folders.LONGEST_ID]
        return folders.read(service_of(request), folder, now=timezone.now()).snapshot.name
    return ""


def context_of(request: Request) -> SearchContext:
    may_change = Role(request.user.role).includes(Role.MEMBER)
    can_move = may_change and service_of(request).is_embedded
    return SearchContext(Calendar.now(), may_change=may_change, can_move=can_move)


def find(request: Request, search: SearchRequest) -> tuple[SearchResult, Coverage | None]:
    """Return the result, and how much was searched; None if the service searches all of it."""
    service, now = service_of(request), timezone.now()
    if service.is_embedded:
        return service.v1.search(search.v1_query), None
    covers = name_index.want(service, now)
    return name_index.search(service, search.v1_query, now), covers


def films_in_progress(request: Request, search: SearchRequest) -> tuple[FilmInProgress, ...]:
    """Return the films that the person hasn't finished, unless there is a search."""
    if not search.is_empty:
        return ()
    films = resume_positions.continue_watching(request.user, service_of(request), timezone.now())
    context = FilesContext(Calendar.now())
    return tuple(film_in_progress(*each, context) for each in films)
