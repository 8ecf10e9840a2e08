"""Rename an entry, and undo that."""

from typing import NamedTuple

from django.utils.translation import gettext as _

from common.names import key_of
from webui.activity import events
from webui.activity.events import Kind
from webui.deleting import held_deletes
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import Entry
from webui.library.folders import Reading
from webui.v1.errors import Conflict, Failure, Rejected
from webui.words.failures import name_refusal


class Renaming(NamedTuple):
    words: str = ""
    error: str = ""  # for the field


def rename_entry(request: Request, reading: Reading, entry: Entry, name: str) -> Renaming:
    """Rename an entry. If the service doesn't confirm that, look which name it has."""
    words = _("Renamed")
    if name == entry.name:
        return Renaming(words)
    service, folder = service_of(request), reading.snapshot.folder
    held_deletes.delete_now(service, folder=folder, name__iexact=name)
    act = service.v1.rename_folder if entry.is_folder else service.v1.rename_file
    try:
        act(entry.id, name)
    except (Conflict, Rejected) as failure:
        return Renaming(error=name_refusal(failure))
    except Failure as failure:
        check_name(request, reading, entry, name, failure)
        words = _("The storage service didn't confirm this, but the new name is there.")
    folders.mark_changed(service, [folder, *([entry.id] if entry.is_folder else [])])
    events.record(request, Kind.RENAMED, entry.name, detail=name)
    return Renaming(words)


def check_name(
    request: Request, reading: Reading, entry: Entry, name: str, failure: Failure
) -> None:
    """Raise the failure unless the entry has the new name."""
    entries = folders.look_again(service_of(request), reading.snapshot.folder, failure)
    names = {each.key: key_of(each.name) for each in entries}
    if names.get(entry.key) == key_of(name):
        return
    if names.get(entry.key) == key_of(entry.name):
        failure.outcome = "unseen"
    raise failure
