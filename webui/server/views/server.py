"""The Server screen, and the settings that owners change there."""

from contextlib import suppress

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from common.host import host
from webui import owner_settings
from webui.activity import events
from webui.activity.events import Kind
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.entries import ROOT
from webui.models import Role
from webui.server.forms import SettingsForm, words_of
from webui.server.screen import BYTES_PER_GB, names_form, page_context_for, storage_form
from webui.signin.ask_password import require_password
from webui.v1.errors import Failure


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "server/show.html", page_context_for(request))


@require_POST
@open_to(Role.OWNER)
@require_password("account-server", "storage")
def change_storage(request: Request) -> HttpResponse:
    if not service_of(request).is_embedded:
        raise Http404
    form = storage_form(request.POST, service_of(request).v1.account())
    if not form.is_valid():
        return refuse(request, storage_form=form)
    space_gb, days = form.cleaned_data["space_gb"], form.cleaned_data.get("deleted_days")
    if "space_gb" in form.changed_data:
        set_space(request, space_gb * BYTES_PER_GB)
        events.record(request, Kind.SPACE_CHANGED, str(space_gb))
    if "deleted_days" in form.changed_data:
        owner_settings.change("DELETED_DAYS", days)
        events.record(request, Kind.DELETED_DAYS_CHANGED, str(days))
    return leave(request, "storage")


@require_POST
@open_to(Role.OWNER)
@require_password("account-server", "names")
def change_names(request: Request) -> HttpResponse:
    form = names_form(request, request.POST)
    if not form.is_valid():
        return refuse(request, names_form=form)
    if "server_name" in form.changed_data:
        owner_settings.change("SERVER_NAME", form.cleaned_data["server_name"])
        events.record(request, Kind.SERVER_NAMED, owner_settings.server_name())
    if "host_names" in form.changed_data:
        names = form.cleaned_data["host_names"]
        owner_settings.change("HOST_NAMES", words_of(names))
        events.record(request, Kind.ADDRESSES_CHANGED, names or "\N{EN DASH}")
    return leave(request, "names")


def set_space(request: Request, size_bytes: int) -> None:
    host().embedded.set_space(size_bytes)
    # The meter of every page shows what the latest listing says.
    with suppress(Failure):
        folders.read(service_of(request), ROOT, now=timezone.now())


def refuse(request: Request, **forms: SettingsForm) -> HttpResponse:
    return render(request, "server/show.html", page_context_for(request) | forms, status=422)


def leave(request: Request, section: str) -> HttpResponse:
    messages.success(request, _("Saved"))
    return redirect(reverse("account-server", fragment=section))
