"""What people do to one transfer, to several, or to all that are done."""

from collections.abc import Sequence

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.activity import events
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.http.selected import fields_of, is_all_chosen
from webui.models import Role
from webui.transfers import actions
from webui.transfers.pages import many
from webui.transfers.pages import transfers as pages
from webui.transfers.screen import confirm, find_transfer, moment_of, undo_query_of
from webui.transfers.selection import chosen_of, options_in
from webui.transfers.states import CachedTransfer

# One transfer


@open_to(Role.MEMBER, "GET", "POST")
def remove(request: Request, key: str) -> HttpResponse:
    transfer = find_transfer(request, key)
    if request.method == "POST":
        return remove_each(request, [transfer])
    template = "transfers/_remove.html" if request.htmx else "transfers/remove.html"
    return render(request, template, {"transfer": transfer, "loss": pages.loss_words(transfer)})


def remove_each(request: Request, transfers: Sequence[CachedTransfer]) -> HttpResponse:
    now = timezone.now()
    batch = actions.remove(service_of(request), transfers, now)
    kind = events.Kind.TRANSFER_REMOVED
    events.record(request, kind, transfers[0].name, count=len(transfers))
    return confirm(request, many.removed_words(transfers), undo_query=undo_query_of(now, batch))


@open_to(Role.MEMBER, "POST")
def retry(request: Request, key: str) -> HttpResponse:
    transfer = find_transfer(request, key)
    row = actions.find_sent(service_of(request), transfer) if transfer.is_ended else None
    if row is None:
        raise Http404
    actions.retry(service_of(request), row, timezone.now())
    return confirm(request, many.restarted_words(1, 1, None))


@open_to(Role.MEMBER, "GET")
def link(request: Request, key: str) -> HttpResponse:
    """Send the link that was added, for copying; if another program added it, a magnet link."""
    links = actions.links_of(service_of(request), [find_transfer(request, key)])
    if not links:
        raise Http404
    return HttpResponse(links[0], content_type="text/plain; charset=utf-8")


# All that are done


@open_to(Role.MEMBER, "POST")
def clear(request: Request) -> HttpResponse:
    now = timezone.now()
    actions.clear(service_of(request), now)
    return confirm(request, _("List cleared"), undo_query=undo_query_of(now))


@open_to(Role.MEMBER, "POST")
def restore(request: Request) -> HttpResponse:
    """Undo the clearing or canceling at the time that the URL names."""
    cleared_at, batch = moment_of(request), request.GET.get("held", "")
    if cleared_at is None:
        raise Http404
    count = actions.restore(service_of(request), cleared_at, batch)
    if not count:
        return confirm(request, _("There is nothing left to undo."))
    return confirm(request, many.restored_words(count) if batch else _("List restored"))


# The selected ones


@open_to(Role.MEMBER, "POST")
def change(request: Request) -> HttpResponse:
    """Pause, continue, or move the selected transfers; only Ferry's own service can."""
    service = service_of(request)
    act = next((each for each in actions.CHANGES if each == request.GET.get("act")), None)
    if not service.is_embedded or act is None:
        raise Http404
    count = actions.change(service, chosen_of(request), act)
    return confirm(request, many.changed_words(act, count))


@open_to(Role.MEMBER, "POST")
def order(request: Request) -> HttpResponse:
    """Put the selected transfers where a person has dropped them in the list."""
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    count = actions.place(service, chosen_of(request), request.GET.get("after", ""))
    return confirm(request, many.changed_words("before", count))


@open_to(Role.MEMBER, "POST")
def cancel(request: Request) -> HttpResponse:
    """Remove the selected transfers; ask first if some of them are unfinished."""
    chosen = chosen_of(request)
    is_asking = not all(each.is_ended for each in chosen) and "confirmed" not in request.POST
    if chosen and not is_asking:
        return remove_each(request, chosen)
    spared = sorted(fields_of(request, "but")) if is_all_chosen(request) else None
    page = many.cancel_page(chosen, options_in(request), spared)
    template = "transfers/_cancel.html" if request.htmx else "transfers/cancel.html"
    return render(request, template, {"cancel": page})


@open_to(Role.MEMBER, "POST")
def retry_chosen(request: Request) -> HttpResponse:
    service, chosen = service_of(request), chosen_of(request)
    count, total, failure = actions.retry_each(service, chosen, timezone.now())
    if failure and not count:
        raise failure
    return confirm(request, many.restarted_words(count, total, failure))


@open_to(Role.MEMBER, "POST")
def links(request: Request) -> HttpResponse:
    """Send the links of the selected transfers, one per line."""
    lines = actions.links_of(service_of(request), chosen_of(request))
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
