"""Create a folder in another."""

from django.utils import timezone

from webui.files import held_deletes, screen
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.library.folders import Reading
from webui.v1.errors import NotFound
from webui.v1.records import Created


def make(request: Request, reading: Reading, name: str) -> Created:
    service, folder = service_of(request), reading.snapshot.folder
    held_deletes.delete_now(service, timezone.now(), folder=folder, name__iexact=name)
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
