"""Make a link to a page: for a folder, or for a selection in it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from webui.activity import events
from webui.files import screen as files_screen
from webui.files.selection import chosen_of
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.http.selected import fields_of, is_all_chosen
from webui.library.addresses import folder_url
from webui.library.bounds import Bounds
from webui.library.entries import FILE, Entry
from webui.library.folders import Reading
from webui.models import Role
from webui.people.device_addresses import device_addresses
from webui.player import subtitles
from webui.shares import links
from webui.shares.form import SEND, ShareForm
from webui.shares.page import new_page, terms_words
from webui.uploads.page import no_folder_words
from webui.words.formatting import Calendar, count_words

MADE, MOST_CHOSEN = "make", 1_000


@sensitive_post_parameters("password")
@open_to(Role.MEMBER, "GET", "POST")
def share(request: Request, folder: str) -> HttpResponse:
    """Ask what the link may do, then make it. A selection arrives as a form of the listing."""
    reading = files_screen.read(request, folder)
    chosen = chosen_of(request, reading)
    is_of_selection = fields_of(request, "entry") or is_all_chosen(request)
    if is_of_selection and not 0 < len(chosen) <= MOST_CHOSEN:
        messages.error(request, refusal(chosen))
        return redirect(folder_url(folder))
    is_sent = request.method == "POST" and MADE in request.POST
    form = ShareForm(request.POST if is_sent else None)
    page = new_page(reading.snapshot, chosen, takes_folder=service_of(request).takes_folder)
    if is_sent and form.is_valid():
        if form.cleaned_data["purpose"] == SEND and not page["can_receive"]:
            form.add_error(None, no_folder_words())
        elif shown := create_link(request, reading, chosen, form):
            return shown
        else:
            form.add_error(None, _("You already have 100 links. Revoke some on the account page."))
    context = {"page": page, "form": form}
    return render(request, "shares/new.html", context, status=422 if is_sent else 200)


def refusal(chosen: list[Entry]) -> str:
    if not chosen:
        return _("Select an item first.")
    words = _("Select at most %(count)s items, or share the folder.")
    return words % {"count": count_words(MOST_CHOSEN)}


def create_link(
    request: Request, reading: Reading, chosen: list[Entry], form: ShareForm
) -> HttpResponse | None:
    """Make the link, and show it. Return None if there are too many."""
    now = timezone.now()
    terms = form.terms(now, takes_files=form.cleaned_data["purpose"] == SEND)
    bounds = bounds_of(reading, chosen)
    token = links.make_page(request.user, service_of(request).key, bounds, terms, now)
    if token is None:
        return None
    events.record(request, events.Kind.SHARE_MADE, terms.label or bounds.name)
    page = {
        "text": terms_words(terms, Calendar.now()),
        "addresses": device_addresses(request, reverse("share-page", args=[token])),
        "back_url": folder_url(bounds.top),
    }
    return render(request, "shares/made.html", {"page": page})


def bounds_of(reading: Reading, chosen: list[Entry]) -> Bounds:
    """Return what the link shows. A film brings the subtitles beside it."""
    snapshot = reading.snapshot
    if not chosen:
        return Bounds(snapshot.folder, snapshot.name or _("Files"))
    keys = {entry.key for entry in chosen}
    beside = [each for each in snapshot.contents.entries if each.look in ("film", "captions")]
    for film in chosen:
        if film.look == "film":
            tracks = subtitles.sidecars(snapshot.folder, film, beside)
            keys |= {f"{FILE}-{each.id}" for each in tracks}
    name = chosen[0].name if len(chosen) == 1 else snapshot.name or _("Files")
    if len(chosen) == 1 and chosen[0].is_folder:
        return Bounds(chosen[0].id, name)
    return Bounds(snapshot.folder, name, frozenset(keys))
