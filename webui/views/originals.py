"""Files as they are, for use inside our pages and for a tab of their own."""

from django.http import HttpResponseBase
from django.views.decorators.http import require_safe

from webui import delivery, folders
from webui.http import Request
from webui.models import Role
from webui.presentation import DRAWING, PDF, Presentation, presentation
from webui.roles import open_to
from webui.v1.links import Download, Link


@require_safe
@open_to(Role.GUEST)
def original(request: Request, file: str) -> HttpResponseBase:
    """Our own service sends a file itself, but for drawings, which it only shows as text."""
    name = name_of(request, file)
    is_drawing = name.lower().endswith(f".{DRAWING}")

    def present(found: Download) -> Presentation:
        return presentation(name or delivery.name_in(found))

    return shown(request, file, name, present, by_link=not is_drawing)


@require_safe
@open_to(Role.GUEST)
def pdf(request: Request, file: str) -> HttpResponseBase:
    return shown(request, file, name_of(request, file), lambda _found: PDF, by_link=True)


def shown(
    request: Request, file: str, name: str, present: delivery.Presenting, *, by_link: bool
) -> HttpResponseBase:
    def opening(headers: dict[str, str]) -> Link | Download:
        return request.v1.file_link(file, headers, request.method or "GET", inline=True)

    if by_link and request.service.is_embedded:
        return delivery.deliver(request, request.service, opening, name)
    return delivery.show(request, opening, present, name)


def name_of(request: Request, file: str) -> str:
    entry = folders.listed_file(request.service, request.GET.get("in", ""), file)
    return entry.name if entry else ""
