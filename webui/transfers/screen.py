"""What the views of the Transfers screen share."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from webui.connection.connection import Service
from webui.http.requests import Request, service_of
from webui.transfers import poll
from webui.transfers.groups import Groups
from webui.transfers.pages.traffic import speeds_page
from webui.transfers.pages.transfers import Excerpt
from webui.transfers.selection import options_in
from webui.transfers.states import CachedTransfer
from webui.v1.errors import Failure, NotFound


def find_transfer(request: Request, key: str) -> CachedTransfer:
    transfers = poll.store().of_keys(service_of(request).key, [key])
    if key not in transfers:
        raise NotFound("not_found", status=404)
    return transfers[key]


def speeds_of(service: Service) -> dict[str, object] | None:
    """Return the speeds of the last ten minutes, which only our own service knows."""
    if service.is_embedded:
        with suppress(Failure):
            return speeds_page(service.v1.traffic("minutes").parts)
    return None


def confirm(request: Request, said: str, *, undo_query: str = "") -> HttpResponse:
    """Confirm an action; the page requests the changes itself. Undo what `undo_query` names."""
    if request.htmx:
        undo = undo_url_of(undo_query) if undo_query else ""
        changed = json.dumps({"transfers-changed": {"said": said, "undo": undo}})
        return HttpResponse(status=204, headers={"HX-Trigger": changed})
    shown = Excerpt(Groups(), options_in(request)).url
    if undo_query:
        return redirect(f"{shown}{'&' if '?' in shown else '?'}{undo_query}")
    messages.success(request, said)
    return redirect(shown)


def undo_url_of(query: str) -> str:
    return f"{reverse('transfers-restore')}?{query}"


def undo_query_of(cleared_at: datetime, batch: str = "") -> str:
    """`batch`: of transfers that wait to be stopped."""
    held = {"held": batch} if batch else {}
    return urlencode({"cleared": cleared_at.isoformat()} | held)


def moment_of(request: Request) -> datetime | None:
    """Return the time of what can be undone, if the URL names one."""
    try:
        moment = datetime.fromisoformat(request.GET.get("cleared", ""))
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
