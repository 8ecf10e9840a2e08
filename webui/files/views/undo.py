"""Undo the last action in Files, as its message offers."""

import re
from collections.abc import Iterable

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.activity import events
from webui.connection.connection import Service
from webui.deleting import held_deletes, restores
from webui.deleting import page as deleted_page
from webui.files import changes, screen
from webui.http.requests import Request, form_page_url, service_of
from webui.http.roles import open_to
from webui.http.url_converters import EntryConverter, Id
from webui.library import folders
from webui.library.entries import ROOT
from webui.models import Role
from webui.player import resume_positions
from webui.unpacking import page as unpacking_page
from webui.unpacking import unpackings
from webui.v1.errors import Conflict, Rejected
from webui.words.failures import name_refusal

BATCHES = re.compile(
    r"(?P<what>deleted|moved|unpacked):(?P<batches>[0-9]{1,18}(?:,[0-9]{1,18}){0,199})"
)
HELD = re.compile(r"held:([\w-]{22})")
RENAMED = re.compile(rf"renamed:({Id.regex}):({EntryConverter.regex}):(.+)")


@open_to(Role.MEMBER, "POST")
def undo(request: Request) -> HttpResponse:
    change = request.POST.get("undo", "")
    page_url = form_page_url(request)
    back = page_url if page_url != request.get_full_path() else "files"
    if match := RENAMED.fullmatch(change):
        rename_back(request, *match.groups())
    elif match := HELD.fullmatch(change):
        show_again(request, match[1])
    elif (match := BATCHES.fullmatch(change)) and service_of(request).is_embedded:
        batches = dict.fromkeys(match["batches"].split(","))
        if match["what"] == "deleted":
            restores.restore_each(request, [{"batch": each} for each in batches])
        elif match["what"] == "unpacked":
            undo_unpackings(request, batches)
        else:
            move_back(request, batches)
    else:
        raise Http404
    return redirect(back)


def rename_back(request: Request, folder: str, key: str, name: str) -> None:
    reading = screen.read(request, folder, at_once=True)
    entry = screen.find_entry(reading, key)
    try:
        messages.success(request, changes.rename_entry(request, reading, entry, name))
    except (Conflict, Rejected) as refused:
        messages.error(request, name_refusal(refused))


def show_again(request: Request, batch: str) -> None:
    if names := held_deletes.undo(service_of(request), batch):
        events.record(request, events.Kind.UNDELETED, names[0], count=len(names))
        messages.success(request, deleted_page.restored_words(len(names)))
    else:
        messages.error(request, _("There is nothing left to undo."))


def move_back(request: Request, batches: Iterable[str]) -> None:
    service, count = service_of(request), 0
    for batch in batches:
        undone = service.v1.undo_move(batch)
        count += undone.count
        places = places_of(service, undone.folder_ids)
        folders.mark_changed(service, places)
        resume_positions.update_folders(service, places, timezone.now())
    if count:
        events.record(request, events.Kind.MOVE_UNDONE, count=count)
        messages.success(request, _("Undone"))
    else:
        messages.error(request, _("There is nothing left to undo."))


def places_of(service: Service, folder_ids: Iterable[str]) -> list[str]:
    root_id = folders.root_id(service)
    return [ROOT if each == root_id else each for each in folder_ids]


def undo_unpackings(request: Request, transfer_ids: Iterable[str]) -> None:
    service, state = service_of(request), ""
    for transfer_id in transfer_ids:
        undone = unpackings.undo(service, transfer_id, timezone.now())
        state = undone.state or state
        folders.mark_changed(service, places_of(service, undone.folder_ids))
    if not state:
        messages.error(request, _("There is nothing left to undo."))
        return
    if state != "failed":
        events.record(request, events.Kind.UNPACKING_UNDONE)
    messages.success(request, unpacking_page.undone_words(state))
