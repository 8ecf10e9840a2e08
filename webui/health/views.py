"""The owner's page about Ferry's health."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from webui import health
from webui.http import Request
from webui.models import Role
from webui.pages.health import health_page
from webui.pages.measures import Calendar
from webui.roles import open_to


@require_safe
@open_to(Role.OWNER)
def show(request: Request) -> HttpResponse:
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    page = health_page(health.report(), calendar)
    return render(request, "account/health.html", {"page": page})
