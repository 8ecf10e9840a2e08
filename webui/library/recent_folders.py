"""The folders into which a person last put something, to offer them again."""

from collections.abc import Iterator
from contextlib import suppress

from django.utils import timezone

from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.library.snapshot import Snapshot
from webui.v1.errors import Failure

RECENT, MOST = "recent_folders", 5


def remember(request: Request, folder: str) -> None:
    """Remember a folder for as long as this device stays signed in."""
    if folder in ("", ROOT):
        return
    service, others = service_of(request).key, [each for each in ids_of(request) if each != folder]
    recent = [service, [folder, *others][:MOST]]
    if request.session.get(RECENT) != recent:
        request.session[RECENT] = recent


def ids_of(request: Request) -> list[str]:
    service, ids = request.session.get(RECENT, ["", []])
    return list(ids) if service == service_of(request).key else []


def read_recent(request: Request) -> Iterator[Snapshot]:
    """Yield the folders that still exist, the latest first."""
    for folder in ids_of(request):
        with suppress(Failure):
            yield folders.read(service_of(request), folder, now=timezone.now()).snapshot


def cached_recent(request: Request) -> Iterator[Snapshot]:
    """Yield the folders that are known without asking the service."""
    for folder in ids_of(request):
        if listing := folders.store().find(service_of(request).key, folder):
            yield listing.snapshot
