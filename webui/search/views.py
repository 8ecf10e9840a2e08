"""Search the whole library, as you type."""

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from webui.files.context import FilesContext
from webui.files.page import FilmInProgress, film_in_progress
from webui.formatting import Calendar
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.models import Role
from webui.player import resume_positions
from webui.search import name_index
from webui.search.coverage import Coverage
from webui.search.page import SearchPage, SearchRequest, elsewhere_page, parse_search, search_page
from webui.v1.records import SearchResult


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    page = page_of(request, parse_search(request.GET.dict()))
    return render(request, "search/show.html", {"page": page})


@require_safe
@open_to(Role.GUEST)
def results(request: Request) -> HttpResponse:
    """Render the results alone. The address follows, so that Back returns to them."""
    search = parse_search(request.GET.dict())
    page = page_of(request, search)
    # Don't announce results that the page refreshes by itself.
    is_poll = bool(request.htmx) and request.htmx.trigger == "results"
    response = render(request, "search/_results.html", {"page": page, "is_poll": is_poll})
    response["HX-Replace-Url"] = reverse("search") + search.tail
    return response


@require_safe
@open_to(Role.GUEST)
def elsewhere(request: Request, folder: str) -> HttpResponse:
    """Render what the filter of a folder would find in other folders."""
    search = SearchRequest(query=parse_search(request.GET.dict()).query)
    # The first results may all be in this folder.
    result, _covers = find(request, replace(search, has_all=True))
    page = elsewhere_page(result, search, Calendar.now(), folder)
    return render(request, "search/_elsewhere.html", {"page": page})


def page_of(request: Request, search: SearchRequest) -> SearchPage:
    result, covers = find(request, search)
    return search_page(result, search, Calendar.now(), films_in_progress(request, search), covers)


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
