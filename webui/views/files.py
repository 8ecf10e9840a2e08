from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from webui.http import Request
from webui.models import Role
from webui.roles import open_to


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    return render(request, "files/show.html")
