"""The password for other programs that use Ferry's own service, on the Server screen."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from webui.activity import events
from webui.activity.events import Kind
from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role
from webui.people import program_password
from webui.server.screen import context_for, page_context_for, programs_of
from webui.signin.ask_password import require_password


@sensitive_variables()
@require_POST
@open_to(Role.OWNER)
@require_password("account-server", "programs", lambda request: "forget" not in request.POST)
def password(request: Request) -> HttpResponse:
    """Make a new password, which only this response shows, or revoke it. Programs with the old one
    lose access."""
    if programs_of(request) is None:
        raise Http404
    if "forget" in request.POST:
        program_password.take_away()
        events.record(request, Kind.PROGRAMS_BLOCKED)
        messages.success(request, _("Other programs can't sign in anymore"))
        return redirect(reverse("account-server", fragment="programs"))
    new_password = program_password.make(request.user)
    if new_password is None:
        raise PermissionDenied
    events.record(request, Kind.PROGRAMS_ALLOWED)
    programs = programs_of(request, new_password)
    if request.htmx:
        return render(
            request, "server/_programs.html", {**context_for(request), "programs": programs}
        )
    return render(request, "server/show.html", {**page_context_for(request), "programs": programs})
