"""The Server screen: where files are kept, who may use it, and how it is doing."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role
from webui.server.screen import page_context_for


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "server/show.html", page_context_for(request))
