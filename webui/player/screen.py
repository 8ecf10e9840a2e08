"""The player of one film, for the page that shows it."""

from contextlib import suppress

from django.utils import timezone

from webui.http.requests import Request, service_of
from webui.library import folders
from webui.library.addresses import Addresses, parse_view_options
from webui.library.bounds import bounds_of
from webui.library.entries import ROOT, Entry
from webui.library.folders import Reading
from webui.library.snapshot import Snapshot
from webui.library.sorting import episode_in
from webui.player import neighbors, resume_positions, subtitles
from webui.player.pages import film as page
from webui.v1.errors import Failure


def page_of(request: Request, reading: Reading, entry: Entry) -> dict[str, object]:
    position = resume_positions.position(request.user, service_of(request), entry.id)
    at = Addresses(reading.snapshot.folder, parse_view_options(request.GET))
    shown = page.player_page(reading.snapshot, entry, at, position) | {
        "subtitles": subtitles.of(service_of(request), reading.snapshot, entry, timezone.now()),
        "keeps_position": bounds_of(request) is None,
    }
    film = next_season(request, reading.snapshot, entry)
    return shown | {"next": page.nearby_film(*film), "runs_on": True} if film else shown


def next_season(
    request: Request, snapshot: Snapshot, entry: Entry
) -> tuple[Entry, Addresses] | None:
    """Return the first film of the next folder, if the last film of this one leads there.

    Visitors stay in the folder that was shared with them. If the service fails, the film plays
    without a next one.
    """
    is_last = neighbors.films_around(snapshot, entry)[1] is None
    if not is_last or episode_in(entry) is None or snapshot.is_root or bounds_of(request):
        return None
    service, now = service_of(request), timezone.now()
    with suppress(Failure):
        parent = folders.read(service, snapshot.parent or ROOT, now=now).snapshot
        folder = neighbors.folder_after(snapshot, parent)
        if folder is None:
            return None
        season = folders.read(service, folder.id, now=now).snapshot
        film = neighbors.first_episode_after(entry, season)
        if film:
            return film, Addresses(folder.id, parse_view_options(request.GET))
    return None
