"""The Account screen: a password of Ferry's own service, for other programs."""

import logging

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from webui import activity, programs
from webui.activity import Kind
from webui.http import Request
from webui.models import Role
from webui.roles import open_to
from webui.views.account import context_for, programs_of
from webui.views.confirmation import confirmed

log = logging.getLogger("ferry.programs")


@sensitive_variables()
@require_POST
@open_to(Role.OWNER)
@confirmed(lambda request: "forget" not in request.POST)
def password(request: Request) -> HttpResponse:
    """A new one stands in this answer alone. Programs that had the old one are out."""
    if programs_of(request) is None:
        raise Http404
    if "forget" in request.POST:
        programs.take_away()
        log.info("password of the service taken away name=%r", request.user.username)
        activity.record(request, Kind.PROGRAMS_BLOCKED)
        messages.success(request, _("Other programs can't sign in any more"))
        return redirect("account")
    made = programs.make(request.user)
    if made is None:
        raise PermissionDenied
    log.info("new password of the service name=%r", request.user.username)
    activity.record(request, Kind.PROGRAMS_ALLOWED)
    template = "account/_programs.html" if request.htmx else "account/show.html"
    context = context_for(request)
    context["programs"] = programs_of(request, made)
    return render(request, template, context)
