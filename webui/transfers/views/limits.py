"""Which speeds apply, how an owner switches them for a time, and the limits of one transfer."""

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from webui.activity import events
from webui.http.requests import Request, no_content, service_of
from webui.http.roles import open_to
from webui.limits.forms import OwnLimitsForm
from webui.limits.page import speed_state_words
from webui.limits.screen import add_refusal, initial_of, speed_context
from webui.models import Role
from webui.transfers.screen import confirm, find_transfer
from webui.transfers.states import CachedTransfer
from webui.v1.errors import Rejected
from webui.words.formatting import Calendar

SLOW_UNTIL = "slow_until"  # of a session: until when its person last chose slow speeds
OF_TORRENTS = ("upload_bytes_per_second", "seed_ratio", "seed_minutes")


@open_to(Role.GUEST, "GET")
def show_speed(request: Request) -> HttpResponse:
    """Send which speeds apply, unless the page shows that already."""
    context = speed_context(request)
    state = context.get("speed")
    if not context or request.GET.get("seen") == getattr(state, "seen", ""):
        return no_content()
    return render(request, "transfers/_speed.html", context)


@open_to(Role.OWNER, "POST")
def switch(request: Request) -> HttpResponse:
    """Apply the slow or full speeds for a time, or what the schedule says. `until=last`: for as
    long as last chosen."""
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    to, until = request.GET.get("to", ""), request.GET.get("until", "")
    if until == "last":
        until = request.session.get(SLOW_UNTIL, "hour")
    limits = service.v1.set_limits({"switch": to, "until": until})
    if to == "slow":
        request.session[SLOW_UNTIL] = until
    events.record(request, events.Kind.SPEED_SWITCHED)
    words = speed_state_words(limits, Calendar.now())
    return confirm(request, words or _("Full speed applies."))


@open_to(Role.MEMBER, "GET", "POST")
def limit(request: Request, key: str) -> HttpResponse:
    transfer, service = find_transfer(request, key), service_of(request)
    if not service.is_embedded or not transfer.may_limit:
        raise Http404
    own = service.v1.transfer_limits(transfer.id)
    left_out = () if transfer.hash else OF_TORRENTS
    sent = request.POST if request.method == "POST" else None
    form = OwnLimitsForm(initial_of(own, OwnLimitsForm), left_out, sent)
    if sent is None:
        return show(request, transfer, form)
    if not form.is_valid():
        return show(request, transfer, form, 422)
    try:
        service.v1.limit_transfer(transfer.id, form.sent)
    except Rejected as failure:
        add_refusal(form, failure)
        return show(request, transfer, form, 422)
    events.record(request, events.Kind.TRANSFER_LIMITED, transfer.name)
    return confirm(request, _("Saved"))


def show(
    request: Request, transfer: CachedTransfer, form: OwnLimitsForm, status: int = 200
) -> HttpResponse:
    template = "transfers/_limits.html" if request.htmx else "transfers/limits.html"
    response = render(request, template, {"transfer": transfer, "form": form}, status=status)
    if status == 422 and request.htmx:
        response["HX-Retarget"], response["HX-Reswap"] = "#limits", "innerHTML"
    return response
