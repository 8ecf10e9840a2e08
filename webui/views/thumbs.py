"""Small pictures of files, fetched from the service once and then kept by their hash."""

from collections.abc import Iterator

from django.http import Http404, HttpResponse
from django.views.decorators.http import require_safe

from webui import folders, pictures
from webui.http import Request
from webui.models import Role
from webui.pages.entries import FILE
from webui.roles import open_to
from webui.v1.errors import Conflict, Failure, Forbidden, NotFound, Rejected, Unreadable
from webui.v1.links import Download, Link

IMMUTABLE = "private, max-age=31536000, immutable"
# What asking again would not change.
FINAL = (NotFound, Rejected, Forbidden, Conflict, Unreadable)


@require_safe
@open_to(Role.GUEST)
def thumb(request: Request, file: str, mark: str) -> HttpResponse:
    try:
        picture = pictures.kept().get(
            f"{request.service.key} {file} {mark}", lambda: fetched(request, file)
        )
    except (Failure, pictures.Busy):
        return HttpResponse(status=503, headers={"Retry-After": "30"})
    if picture is None:
        raise Http404
    return HttpResponse(
        picture,
        content_type=pictures.type_of(picture[:32]),
        headers={
            "Cache-Control": IMMUTABLE,
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
        },
    )


def fetched(request: Request, file: str) -> Iterator[bytes]:
    try:
        with opened(request, file) as found:
            if found.status == 200:
                yield from found.iter_raw()
    except FINAL:
        return


def opened(request: Request, file: str) -> Download:
    """The link of the listing, where it told one; else the service's own answer."""
    link = link_in(request, file)
    found: Link | Download = request.v1.open(link) if link else request.v1.thumbnail(file)
    return request.v1.open(found) if isinstance(found, Link) else found


def link_in(request: Request, file: str) -> str:
    """Links expire; that of a listing read long ago is asked anew by the service's own way."""
    known = folders.store().known(request.service.key, request.GET.get("in", "")[:64])
    entry = known.snapshot.contents.find(f"{FILE}-{file}") if known else None
    return entry.picture if entry else ""
