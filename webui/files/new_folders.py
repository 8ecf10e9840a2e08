"""Create a folder in another."""

from typing import NamedTuple

from common.names import key_of
from webui.deleting import held_deletes
from webui.files import screen
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.library.folders import Reading
from webui.v1.errors import Failure, NotFound
from webui.v1.records import Created


class MadeFolder(NamedTuple):
    id: str | None  # not every service sends it
    is_confirmed: bool = True


def make(request: Request, reading: Reading, name: str) -> MadeFolder:
    """Create a folder. If the service doesn't confirm that, look whether the folder is there."""
    try:
        created = create(request, reading, name)
    except Failure as failure:
        return MadeFolder(find_made(request, reading, name, failure), is_confirmed=False)
    return MadeFolder(created.id)


def create(request: Request, reading: Reading, name: str) -> Created:
    service, folder = service_of(request), reading.snapshot.folder
    held_deletes.delete_now(service, folder=folder, name__iexact=name)
    above = folders.path_of(service, reading.snapshot)
    path = f"{above}/{name}" if above else name
    root_id = ROOT if service.is_embedded else folders.root_id(service)
    try:
        new_folder = service.v1.create_folder(path, root_id)
    except NotFound:
        if service.is_embedded or not screen.read(request, folder, at_once=True).is_fresh:
            raise
        new_folder = service.v1.create_folder(path, root_id, is_parent_known=True)
    folders.mark_changed(service, [folder])
    return new_folder


def find_made(request: Request, reading: Reading, name: str, failure: Failure) -> str:
    """Return the ID of the folder if it is there, or raise the failure."""
    snapshot = reading.snapshot
    entries = folders.look_again(service_of(request), snapshot.folder, failure)
    listed = [entry for entry in entries if entry.is_folder]
    for entry in listed:
        if key_of(entry.name) == key_of(name):
            return entry.id
    if all(snapshot.contents.find(entry.key) for entry in listed):
        failure.outcome = "unseen"
    raise failure
