"""One transfer in detail, as a page or in a dialog, and the speeds of all."""

from django.http import Http404, HttpResponse
from django.shortcuts import render

from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.models import Role
from webui.transfers.pages.details import details_page
from webui.transfers.pages.words import RowContext
from webui.transfers.screen import find_transfer, speeds_of
from webui.words.formatting import Calendar


@open_to(Role.GUEST, "GET")
def details(request: Request, key: str) -> HttpResponse:
    """Show it. A page that is open already requests only what changes."""
    service, transfer = service_of(request), find_transfer(request, key)
    if not service.is_embedded or not transfer.id:
        raise Http404
    role = Role(request.user.role)
    page = details_page(
        transfer,
        service.v1.transfer_details(transfer.id),
        RowContext(Calendar.now(), may_change=role.includes(Role.MEMBER), is_own=True),
        shows_addresses=role.includes(Role.OWNER),
    )
    part = "_details_facts" if "facts" in request.GET else "_details"
    template = f"transfers/{part if request.htmx else 'details'}.html"
    return render(request, template, {"page": page})


@open_to(Role.GUEST, "GET")
def speeds(request: Request) -> HttpResponse:
    """Send the curve of the last ten minutes."""
    page = speeds_of(service_of(request))
    if page is None:
        raise Http404
    return render(request, "transfers/_speeds.html", {"speeds": page})
