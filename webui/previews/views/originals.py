"""Original files, for use inside our pages and in a separate tab."""

from functools import partial

from django.http import HttpResponseBase

from webui.contents import relayed_files
from webui.contents.content_check import Expected, expected_file
from webui.http.content_types import DOCUMENT, DRAWING, BrowserHandling, presentation
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.bounds import bounds_of
from webui.models import Role
from webui.v1.links import Download


@open_to(Role.GUEST, "GET")
def original(request: Request, file: str) -> HttpResponseBase:
    """Send a file. Our own service sends it directly, except SVGs and what visitors read."""
    expected = expected_of(request, file)
    is_drawing = expected.name.lower().endswith(f".{DRAWING}")

    def present(download: Download) -> BrowserHandling:
        return presentation(expected.name or relayed_files.name_of(download))

    return show_file(request, file, expected, present, by_link=not is_drawing)


@open_to(Role.GUEST, "GET")
def pdf(request: Request, file: str) -> HttpResponseBase:
    return show_file(
        request, file, expected_of(request, file), lambda _download: DOCUMENT, by_link=True
    )


def show_file(
    request: Request,
    file: str,
    expected: Expected,
    present: relayed_files.Presenting,
    *,
    by_link: bool,
) -> HttpResponseBase:
    opening = partial(service_of(request).v1.file_link, file, inline=True)
    if by_link and service_of(request).is_embedded and not bounds_of(request):
        return relayed_files.deliver(request, opening, expected)
    return relayed_files.show(request, opening, present, expected)


def expected_of(request: Request, file: str) -> Expected:
    return expected_file(folders.listed_file(service_of(request), request.GET.get("in", ""), file))
