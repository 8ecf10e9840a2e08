"""What several pages show: the field for links and files, and other ways to add."""

from contextlib import suppress
from dataclasses import replace

from django.urls import reverse
from django.utils import timezone

from webui.add.pages import add as pages
from webui.add.pages.add import AddBox
from webui.add.pages.from_elsewhere import FromElsewherePanel, from_elsewhere_panel
from webui.http.requests import Request, is_secure_context, service_of
from webui.library import folders, recent_folders
from webui.library.entries import ROOT
from webui.storage_meter import gauge_of
from webui.v1.errors import Failure

MOST_FOLDERS = 100


def box_of(request: Request, folder: str = "", *, is_asking: bool = True) -> AddBox:
    """Return what `add/_add.html` shows. It must not fail if the service is unavailable.

    `is_asking`: ask the service for its folders, unless the page asks it for other things.
    """
    choices: list[tuple[str, str]] = []
    gauge, takes_folder, may_choose = None, False, False
    with suppress(Failure):
        service = service_of(request)
        takes_folder, may_choose = service.takes_folder, service.is_embedded
        gauge = gauge_of(*folders.store().space(service.key))
        choices = choices_of(request, folder, is_asking=is_asking)
    box = pages.add_box(choices, folder, gauge, takes_folder=takes_folder)
    return replace(box, may_choose=may_choose)


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


def load_from_elsewhere(request: Request) -> FromElsewherePanel:
    return from_elsewhere_panel(
        request.build_absolute_uri(reverse("add")),
        request.build_absolute_uri(reverse("send-token")),
        is_secure=is_secure_context(request),
    )
