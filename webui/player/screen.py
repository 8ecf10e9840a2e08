"""The player of one film, for the page that shows it."""

from django.utils import timezone

from webui.http.requests import Request, service_of
from webui.library import requests as library_requests
from webui.library.addresses import Addresses
from webui.library.entries import Entry
from webui.library.folders import Reading
from webui.player import page, resume_positions, subtitles
from webui.player.page import PlayerPage, SubtitleTrack


def page_of(request: Request, reading: Reading, entry: Entry) -> PlayerPage:
    mark = resume_positions.position(request.user, service_of(request), entry.id)
    at = Addresses(reading.snapshot.folder, library_requests.view_options(request))
    beside = subtitles.of(service_of(request), reading.snapshot, entry, timezone.now())
    words = [SubtitleTrack(each.label, each.language, each.url) for each in beside]
    return page.player_page(reading.snapshot, entry, at, mark, subtitles=words)
