from django.http import HttpResponse
from django.shortcuts import render

from common.host import host
from webui.health.page import health_page
from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Role
from webui.words.formatting import Calendar


@open_to(Role.OWNER, "GET")
def show(request: Request) -> HttpResponse:
    page = health_page(host().report_health(), Calendar.now())
    return render(request, "health/show.html", {"page": page})
