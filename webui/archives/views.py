"""ZIP downloads of a folder or a selection."""

from collections.abc import Collection
from functools import partial

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.archives import selections as archive_selections
from webui.contents import relayed_files
from webui.contents.content_check import expected_zip
from webui.files import screen
from webui.files import selection as files_selection
from webui.http.requests import Request, leave_for, person_behind, service_of
from webui.http.roles import open_to
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.bounds import bounds_of
from webui.library.entries import FOLDER, ROOT, split_name
from webui.models import Role, Selection
from webui.v1.links import Download, Link
from webui.words import formatting

MOST_LISTED = 50


@open_to(Role.GUEST, "GET")
def folder_zip(request: Request, folder: str) -> HttpResponseBase:
    """Download a folder as a ZIP. The root needs its own id from its listing: 0 is our word, not
    v1's."""
    if bounds_of(request):
        reading = screen.read(request, folder)
        if reading.is_part:
            entries = reading.snapshot.contents.entries
            chosen = [(each.kind, each.id) for each in entries]
            return entries_zip(request, chosen, reading.snapshot.name)
    expected = expected_zip(name_of(request, folder))
    folder_id = folders.root_id(service_of(request)) if folder == ROOT else folder
    opening = partial(service_of(request).v1.folder_zip_link, folder_id)
    return relayed_files.deliver(request, opening, expected)


def name_of(request: Request, folder: str) -> str:
    """Return the folder's name, or an empty string: our own service names its ZIPs itself."""
    if service_of(request).is_embedded:
        return ""
    name = folders.read(service_of(request), folder, now=timezone.now()).snapshot.name
    return name or _("Files")


@open_to(Role.GUEST, "POST")
def pack(request: Request, folder: str) -> HttpResponse:
    """Save the selection, and return a link to it. The page's policy blocks a form whose response
    redirects to another host, but not a link, which a script clicks on the folder's own page."""
    reading = screen.read(request, folder)
    chosen = files_selection.chosen_of(request, reading)
    if not chosen:
        if not bounds_of(request):
            messages.error(request, _("Select an item first."))
        return leave_for(request, folder_url(folder))
    selection = archive_selections.save(
        person_behind(request),
        service_of(request).key,
        folder,
        chosen,
        is_whole=len(chosen) == len(reading.snapshot.contents) > 1 and not reading.is_part,
        # Visitors have negative ids.
        share=-request.user.pk if bounds_of(request) else 0,
    )
    if request.htmx:
        url = reverse("files-archive-download", args=[selection.key])
        return render(request, "files/_packed.html", {"url": url})
    response = redirect("files-archive", selection.key)
    response.status_code = 303
    return response


@open_to(Role.GUEST, "GET")
def show(request: Request, key: str) -> HttpResponse:
    selection = find_selection(request, key)
    names = [name for _kind, _id, name in selection.entries]
    words = {
        "items": formatting.items_words(len(names)),
        "size": formatting.size_words(selection.size_bytes),
    }
    page = {
        "text": _("%(items)s, %(size)s") % words,
        "items": names[:MOST_LISTED],
        "more": formatting.more_words(len(names) - MOST_LISTED),
        "download_url": reverse("files-archive-download", args=[key]),
        "back_url": folder_url(selection.folder),
    }
    return render(request, "files/archive.html", {"page": page})


@open_to(Role.GUEST, "GET")
def download(request: Request, key: str) -> HttpResponseBase:
    """Download the selection. For a whole folder, use the folder's ZIP, which every service can
    make at any size."""
    selection = find_selection(request, key)
    if selection.is_whole:
        return folder_zip(request, selection.folder)
    name = only_name(selection) or screen.read(request, selection.folder).snapshot.name
    chosen = [(kind, entry_id) for kind, entry_id, _name in selection.entries]
    return entries_zip(request, chosen, name or _("Files"))


def entries_zip(
    request: Request, chosen: Collection[tuple[str, str]], name: str
) -> HttpResponseBase:
    def opening(headers: dict[str, str], _method: str) -> Link | Download:
        return service_of(request).v1.zip_link(chosen, headers, name)

    expected = expected_zip("" if service_of(request).is_embedded else name)
    return relayed_files.deliver(request, opening, expected)


def only_name(selection: Selection) -> str:
    if len(selection.entries) != 1:
        return ""
    kind, _id, name = selection.entries[0]
    return name if kind == FOLDER else split_name(name)[0]


def find_selection(request: Request, key: str) -> Selection:
    """Return the person's own selection at the connected service, unless it has expired."""
    person, service = person_behind(request), service_of(request).key
    selection = archive_selections.find(person, service, key, timezone.now())
    if selection is None or not is_within_bounds(request, selection):
        raise Http404
    return selection


def is_within_bounds(request: Request, selection: Selection) -> bool:
    bounds = bounds_of(request)
    if bounds is None:
        return True
    keys = [f"{kind}-{entry_id}" for kind, entry_id, _name in selection.entries]
    return bounds.include(service_of(request), selection.folder, timezone.now(), keys)
