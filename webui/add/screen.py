"""The field for links and files, which several pages show."""

from contextlib import suppress
from dataclasses import replace

from django.utils import timezone

from webui.add.pages import add as pages
from webui.add.pages.add import AddBox
from webui.http.requests import Request, service_of
from webui.library import folders, recent_folders
from webui.library.entries import ROOT
from webui.storage_meter import gauge_of
from webui.v1.errors import Failure

MOST_FOLDERS = 100


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
        choices = choices_of(request, folder, is_asking=is_asking)
    box = pages.add_box(choices, folder, gauge, text=text, left_count=left_count)
    return replace(box, takes_folder=takes_folder)


def choices_of(request: Request, folder: str, *, is_asking: bool) -> list[tuple[str, str]]:
    """Return the open folder, recent folders, and folders in the root. People can find others."""
    service = service_of(request)
    if not service.takes_folder:
        return []
    if is_asking:
        folders.read(service, ROOT, now=timezone.now())
    root = folders.store().find(service.key, ROOT)
    if root is None:
        return []
    entries = root.snapshot.contents.in_order("name")
    inner = [(each.id, each.name) for each in entries if each.is_folder]
    others = [*recent_folders.cached_recent(request)]
    if folder not in ("", ROOT) and (listing := folders.store().find(service.key, folder)):
        others.insert(0, listing.snapshot)
    paths = {each.folder: each.path or each.name for each in others if not each.is_root}
    return [*(paths | dict(inner[:MOST_FOLDERS])).items()]
