"""Unpack a ZIP file, and show the progress."""

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from webui.activity import events
from webui.files import answers, screen
from webui.http.requests import Request, service_of
from webui.http.roles import open_to
from webui.library.addresses import folder_url
from webui.models import Role
from webui.unpacking import page as unpacking_page
from webui.unpacking import unpackings
from webui.v1.records import Transfer


@open_to(Role.MEMBER, "POST")
def unpack(request: Request, folder: str, key: str) -> HttpResponse:
    reading = screen.read(request, folder)
    entry = screen.find_entry(reading, key)
    service = service_of(request)
    if not service.is_embedded or not entry.is_unpackable:
        raise Http404
    transfer_id = unpackings.begin(service, request.user, folder, entry, timezone.now())
    events.record(request, events.Kind.UNPACKED, entry.name)
    return answers.show_change(
        request,
        reading,
        message=unpacking_page.begun_words(entry.name),
        undo=f"unpacked:{transfer_id}",
        fields=screen.shown_fields(request) if request.htmx else None,
    )


@open_to(Role.MEMBER, "GET")
def show(request: Request, folder: str) -> HttpResponse:
    """Show the progress; once a new folder exists, show the listing with it."""
    service = service_of(request)
    if not service.is_embedded:
        raise Http404
    if not request.htmx:
        return redirect(folder_url(folder))
    unfinished = unpackings.list_unfinished(service, folder)
    seen = [each for each in request.GET.get("seen", "").split(",") if each.isdecimal()]
    ended = {*seen[: unpackings.MOST_SHOWN]} - {each.id for each in unfinished}
    done = [each for each in unpackings.find(service, sorted(ended)) if each.folder_created_id]
    if done:
        return show_new_folders(request, folder, done)
    page = unpacking_page.unpacking_list(folder, unfinished)
    if page.seen != ",".join(seen):
        return render(request, "files/_unpacking.html", {"unpacking": page})
    # A button that is replaced while someone presses it does nothing.
    response = render(request, "files/_unpacking_rows.html", {"unpacking": page})
    response["HX-Reswap"] = "none"
    return response


def show_new_folders(request: Request, folder: str, done: list[Transfer]) -> HttpResponse:
    reading = screen.read(request, folder, at_once=True)
    ids = ",".join(each.id for each in done)
    return answers.show_change(
        request,
        reading,
        message=unpacking_page.done_words([each.name for each in done]),
        undo=f"unpacked:{ids}",
        fields=screen.shown_fields(request),
    )
