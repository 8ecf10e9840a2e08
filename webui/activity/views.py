from django.http import HttpResponse
from django.shortcuts import render

from webui.activity.page import activity_page
from webui.http.requests import Request
from webui.http.roles import open_to
from webui.models import Activity, Role
from webui.words.formatting import Calendar

PAGE_SIZE = 50


@open_to(Role.OWNER, "GET")
def show(request: Request) -> HttpResponse:
    """Show a page of events, the newest first. Read an extra row to detect older events."""
    before = request.GET.get("before", "")
    rows = Activity.objects.order_by("-pk")
    if before.isdecimal() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    events = list(rows[: PAGE_SIZE + 1])
    last = events[PAGE_SIZE - 1].pk if len(events) > PAGE_SIZE else 0
    page = activity_page(events[:PAGE_SIZE], Calendar.now(), last)
    return render(request, "activity/show.html", {"page": page})
