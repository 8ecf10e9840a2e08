"""The Account screen: the devices that are signed in."""

import logging

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webui import activity, devices
from webui.activity import Kind
from webui.http import Request, respond
from webui.models import Role
from webui.pages.devices import name_and_icon
from webui.roles import open_to
from webui.views.account import context_for

log = logging.getLogger("ferry.devices")


@require_POST
@open_to(Role.GUEST)
def sign_out(request: Request, device: int) -> HttpResponse:
    """One that is gone already counts as signed out."""
    chosen = request.user.devices.filter(pk=device)
    for each in chosen:
        name, _icon = name_and_icon(each.agent)
        activity.record(request, Kind.DEVICE_SIGNED_OUT, name)
    devices.sign_out(chosen)
    log.info("signed out a device name=%r", request.user.username)
    return shown(request, _("Device signed out"))


@require_POST
@open_to(Role.GUEST)
def sign_out_others(request: Request) -> HttpResponse:
    devices.sign_out_everywhere(request.user, request)
    log.info("signed out all other devices name=%r", request.user.username)
    activity.record(request, Kind.OTHERS_SIGNED_OUT)
    return shown(request, _("All other devices are signed out"))


def shown(request: Request, said: str) -> HttpResponse:
    context = {**context_for(request), "said": said}
    return respond(request, "account/_devices.html", context, page="account", said=said)
