"""The field for links and files, which several pages show."""

from contextlib import suppress
from dataclasses import replace

from django.utils import timezone

from webui.add import page as pages
from webui.add.page import AddBox
from webui.connection.connection import Service
from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.storage_meter import gauge_of
from webui.v1.errors import Failure

MOST_FOLDERS = 300


def box_beside(request: Request) -> AddBox:
    """Return the field for a page that asks the service for other things; use known folders."""
    return box_of(request, is_asking=False)


def box_of(
    request: Request,
    folder: str = "",
    *,
    text: str = "",
    left_count: int = 0,
    is_asking: bool = True,
) -> AddBox:
    """Return what `add/_add.html` shows. It must not fail if the service is unavailable."""
    choices: list[tuple[str, str]] = []
    gauge, takes_folder = None, False
    with suppress(Failure):
        service = service_of(request)
        takes_folder = service.takes_folder
        gauge = gauge_of(*folders.store().space(service.key))
        choices = choices_of(service, folder, is_asking=is_asking)
    box = pages.add_box(choices, folder, gauge, text=text, left_count=left_count)
    return replace(box, takes_folder=takes_folder)


def choices_of(service: Service, folder: str, *, is_asking: bool) -> list[tuple[str, str]]:
    """Return the folders in the root, and the open folder."""
    if not service.takes_folder:
        return []
    if is_asking:
        folders.read(service, ROOT, now=timezone.now())
    root = folders.store().find(service.key, ROOT)
    if root is None:
        return []
    entries = root.snapshot.contents
    subfolders = [(each.id, each.name) for each in entries.in_order("name") if each.is_folder]
    choices = subfolders[:MOST_FOLDERS]
    if folder not in ("", ROOT) and folder not in dict(choices):
        listing = folders.store().find(service.key, folder)
        choices += [(folder, listing.snapshot.name)] if listing else []
    return choices
