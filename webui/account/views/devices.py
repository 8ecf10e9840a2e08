"""The Account screen: the devices that are signed in."""

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webui.account.screen import context_for
from webui.activity import events
from webui.activity.events import Kind
from webui.http.requests import Request, respond
from webui.http.roles import open_to
from webui.models import Role
from webui.signin import devices
from webui.signin.page import name_and_icon


@require_POST
@open_to(Role.GUEST)
def sign_out(request: Request, device: int) -> HttpResponse:
    """Sign out a device. A device that is already gone counts as signed out."""
    chosen = request.user.devices.filter(pk=device)
    for each in chosen:
        events.record(request, Kind.DEVICE_SIGNED_OUT, name_and_icon(each.agent)[0])
    devices.sign_out(chosen)
    return render_devices(request, _("Device signed out"))


@require_POST
@open_to(Role.GUEST)
def sign_out_others(request: Request) -> HttpResponse:
    devices.sign_out_everywhere(request.user, request)
    events.record(request, Kind.OTHERS_SIGNED_OUT)
    return render_devices(request, _("All other devices signed out"))


def render_devices(request: Request, message: str) -> HttpResponse:
    context = {**context_for(request), "said": message}
    page = reverse("account", fragment="devices")
    return respond(request, "signin/_devices.html", context, page=page, message=message)
