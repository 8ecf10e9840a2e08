"""The Transfers screen: what is under way, what has arrived, and what to do with it."""

import json
from datetime import UTC, datetime

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from webui import activity, transfers
from webui.activity import Kind
from webui.board import Board
from webui.http import Request, asks_and_acts, unchanged
from webui.models import Role
from webui.pages import transfers as pages
from webui.pages.addresses import folder_url
from webui.pages.entries import FILE
from webui.pages.gauge import gauge_of
from webui.pages.measures import Calendar
from webui.pages.sightings import Sighting
from webui.pages.transfers import Circumstances, Standing, TransfersPage
from webui.roles import open_to
from webui.v1.errors import NotFound
from webui.views import sending


@require_safe
@open_to(Role.GUEST)
def show(request: Request) -> HttpResponse:
    page = page_of(request)
    may_add = Role(request.user.role).includes(Role.MEMBER)
    box = sending.box_beside(request) if may_add else None
    return render(request, "transfers/show.html", {"page": page, "box": box})


def page_of(request: Request) -> TransfersPage:
    board = transfers.look(request.service, at_once=True)
    standing, windows = standing_of(board), pages.windows_of(request.GET.dict())
    keys = pages.missing(standing, windows, None)
    found = transfers.store().of_keys(request.service.key, keys)
    return pages.page_of(standing, found, windows, circumstances(request, board))


@require_safe
@open_to(Role.GUEST)
def listing(request: Request) -> HttpResponse:
    """What is new since `seen`. Rows that a page lacks after others moved up it names by `need`."""
    board = transfers.look(request.service)
    standing, windows = standing_of(board), pages.windows_of(request.GET.dict())
    around = circumstances(request, board)
    need = request.GET.getlist("need")[: pages.MOST_NEEDED]
    revision = request.GET.get("seen", "")
    if not need and revision == pages.revision_of(standing, windows, around):
        return unchanged()
    seen = pages.seen_of(revision, standing, around)
    store, service = transfers.store(), request.service.key
    keys = [*pages.missing(standing, windows, seen), *need]
    found = store.of_keys(service, keys)
    arrived: list[Sighting] = []
    if seen:
        found |= store.since(service, seen.number)
        arrived = list(store.arrived_since(service, seen.number).values())
    page = pages.page_of(
        standing, found, windows, around, seen=seen, arrived=arrived, lacks_rows=bool(need)
    )
    return render(request, "transfers/_list.html", {"page": page})


def standing_of(board: Board) -> Standing:
    return Standing(
        board.epoch, board.number, board.ordered, board.totals, board.under_way, board.ended
    )


def circumstances(request: Request, board: Board) -> Circumstances:
    calendar = Calendar(timezone.now(), timezone.get_current_timezone())
    used, whole = board.space_used_bytes, board.space_max_bytes
    away = None
    failure = transfers.failure_of(board)
    if failure:
        since = calendar.since(datetime.fromtimestamp(board.read_at, UTC))
        away = pages.away_words(since, failure)
    return Circumstances(
        calendar=calendar,
        may_change=Role(request.user.role).includes(Role.MEMBER),
        free_bytes=None if used is None or whole is None else max(whole - used, 0),
        gauge=gauge_of(used, whole),
        away=away,
    )


@require_safe
@open_to(Role.GUEST)
def open_(request: Request, key: str) -> HttpResponse:
    """Where it went: the folder that it became, or the one that its file is in."""
    sighting = found(request, key)
    if sighting.folder:
        return redirect(folder_url(sighting.folder))
    if sighting.file:
        home = transfers.home_of(request.service, sighting)
        return redirect(f"{folder_url(home)}#{FILE}-{sighting.file}")
    raise Http404


# Acting


@asks_and_acts
@open_to(Role.MEMBER)
def remove(request: Request, key: str) -> HttpResponse:
    sighting = found(request, key)
    if request.method != "POST":
        loss = pages.loss_page(sighting)
        return render(request, "transfers/remove.html", {"loss": loss})
    transfers.remove(request.service, sighting, timezone.now())
    activity.record(request, Kind.TRANSFER_REMOVED, sighting.name)
    return done(request, _("Removed") if sighting.is_ended else _("Transfer cancelled"))


@require_safe
@open_to(Role.MEMBER)
def loss(request: Request, key: str) -> HttpResponse:
    loss = pages.loss_page(found(request, key))
    return render(request, "transfers/_loss.html", {"loss": loss})


@require_POST
@open_to(Role.MEMBER)
def retry(request: Request, key: str) -> HttpResponse:
    sighting = found(request, key)
    row = transfers.kept(request.service, sighting) if sighting.is_ended else None
    if row is None:
        raise Http404
    transfers.retry(request.service, row, timezone.now())
    return done(request, _("Sent again"))


@require_POST
@open_to(Role.MEMBER)
def clear(request: Request) -> HttpResponse:
    left = transfers.clear(request.service, timezone.now())
    if not left:
        return done(request, _("List cleared"))
    words = ngettext(
        "%(count)s is left: the service is slow.", "%(count)s are left: the service is slow.", left
    )
    return done(request, words % {"count": left})


@require_safe
@open_to(Role.MEMBER)
def link(request: Request, key: str) -> HttpResponse:
    """What was sent, to be copied; of what another program sent, its hash."""
    sighting = found(request, key)
    row = transfers.kept(request.service, sighting)
    source = row.source if row else ""
    if not source and not sighting.hash:
        raise Http404
    address = source or pages.magnet_of(sighting)
    return HttpResponse(address, content_type="text/plain; charset=utf-8")


def found(request: Request, key: str) -> Sighting:
    sighting = transfers.found(request.service, key)
    if sighting is None:
        raise NotFound("not_found", status=404)
    return sighting


def done(request: Request, said: str) -> HttpResponse:
    """The page asks for itself what is new."""
    if not request.htmx:
        messages.success(request, said)
        return redirect("transfers")
    response = HttpResponse(status=204)
    response["HX-Trigger"] = json.dumps({"transfers-changed": {"said": said}})
    return response
