"""Create folders and rename entries. If the service doesn't confirm a change, look whether it was
made."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from common.names import find_name_error, key_of
from webui.activity import events
from webui.deleting import held_deletes
from webui.files import screen
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT, Entry
from webui.library.folders import Reading
from webui.v1.errors import Conflict, Failure, NotFound, Rejected
from webui.words import reasons
from webui.words.failures import name_refusal


def make_folder(request: Request, target: Reading, name: str) -> tuple[Reading, str]:
    """Create a folder, and open it. If that fails, return the error."""
    error = reasons.find(find_name_error(name)).text
    if not error:
        try:
            made_id, _is_confirmed = create_folder(request, target, name)
        except (Conflict, Rejected) as failure:
            error = name_refusal(failure)
        else:
            return screen.read(request, made_id or target.snapshot.folder), ""
    return target, error


def create_folder(request: Request, reading: Reading, name: str) -> tuple[str | None, bool]:
    """Create a folder. Return its id, which not every service sends, and whether the service
    confirmed that; if not, look whether the folder is there."""
    try:
        return request_folder(request, reading, name), True
    except Failure as failure:
        return find_folder(request, reading, name, failure), False


def request_folder(request: Request, reading: Reading, name: str) -> str | None:
    service, folder = service_of(request), reading.snapshot.folder
    held_deletes.delete_now(service, folder=folder, name__iexact=name)
    above = folders.path_of(service, reading.snapshot)
    path = f"{above}/{name}" if above else name
    root_id = ROOT if service.is_embedded else folders.root_id(service)
    try:
        folder_id = service.v1.create_folder(path, root_id)
    except NotFound:
        if service.is_embedded or not screen.read(request, folder, at_once=True).is_fresh:
            raise
        folder_id = service.v1.create_folder(path, root_id, is_parent_known=True)
    folders.mark_changed(service, [folder])
    return folder_id


def find_folder(request: Request, reading: Reading, name: str, failure: Failure) -> str:
    """Return the ID of the folder if it is there, or raise the failure."""
    snapshot = reading.snapshot
    entries = folders.look_again(service_of(request), snapshot.folder, failure)
    if (folder_id := folder_named(entries, name)) is not None:
        return folder_id
    if all(snapshot.contents.find(entry.key) for entry in entries if entry.is_folder):
        failure.outcome = "unseen"
    raise failure


def folder_named(entries: Iterable[Entry], name: str) -> str | None:
    key = key_of(name)
    ids = (entry.id for entry in entries if entry.is_folder and key_of(entry.name) == key)
    return next(ids, None)


def rename_entry(request: Request, reading: Reading, entry: Entry, name: str) -> str:
    """Rename an entry, and return the words that confirm it. If the service doesn't confirm it,
    look which name the entry has. Raise Conflict or Rejected if the service refuses the name."""
    words = _("Renamed")
    if name == entry.name:
        return words
    service, folder = service_of(request), reading.snapshot.folder
    held_deletes.delete_now(service, folder=folder, name__iexact=name)
    act = service.v1.rename_folder if entry.is_folder else service.v1.rename_file
    try:
        act(entry.id, name)
    except Failure as failure:
        check_name(request, reading, entry, name, failure)
        words = _("The storage service didn't confirm this, but the new name is there.")
    folders.mark_changed(service, [folder, *([entry.id] if entry.is_folder else [])])
    events.record(request, events.Kind.RENAMED, entry.name, detail=name)
    return words


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
