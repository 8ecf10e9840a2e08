"""The folders into which a person last put something, to offer them again.

Links that come from a site first offer the folder that took the last links of that site.
"""

from collections.abc import Iterator
from contextlib import suppress

from django.utils import timezone

from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.entries import ROOT
from webui.library.snapshot import Snapshot
from webui.v1.errors import Failure

RECENT, MOST = "recent_folders", 5
OF_SITES, MOST_SITES, LONGEST_SITE = "folders_of_sites", 50, 255


def remember(request: Request, folder: str, site: str = "") -> None:
    """Remember a folder for as long as this device stays signed in."""
    if site:
        remember_for(request, folder, site[:LONGEST_SITE])
    if folder in ("", ROOT):
        return
    service, others = service_of(request).key, [each for each in ids_of(request) if each != folder]
    recent = [service, [folder, *others][:MOST]]
    if request.session.get(RECENT) != recent:
        request.session[RECENT] = recent


def remember_for(request: Request, folder: str, site: str) -> None:
    before = folders_of_sites(request)
    others = {each: its_folder for each, its_folder in before.items() if each != site}
    latest = others if folder in ("", ROOT) else {**others, site: folder}
    rows = [*latest.items()][-MOST_SITES:]
    if rows != [*before.items()]:
        request.session[OF_SITES] = [service_of(request).key, dict(rows)]


def folders_of_sites(request: Request) -> dict[str, str]:
    service, by_site = request.session.get(OF_SITES, ["", {}])
    return dict(by_site) if service == service_of(request).key else {}


def find_last(request: Request, site: str) -> Snapshot | None:
    """Return the folder that last got links from a site, if it is known without asking."""
    folder = folders_of_sites(request).get(site[:LONGEST_SITE])
    listing = folders.store().find(service_of(request).key, folder) if folder else None
    return listing.snapshot if listing else None


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
