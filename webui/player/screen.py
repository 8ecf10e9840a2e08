"""The player of one film, for the page that shows it."""

from dataclasses import replace

from django.urls import reverse
from django.utils import timezone

from webui.http.requests import Request, service_of
from webui.library import requests as library_requests
from webui.library.addresses import Addresses
from webui.library.bounds import bounds_of
from webui.library.entries import Entry
from webui.library.folders import Reading
from webui.player import page, resume_positions, subtitles
from webui.player.page import PlayerPage, SubtitleTrack


def page_of(request: Request, reading: Reading, entry: Entry) -> PlayerPage:
    mark = resume_positions.position(request.user, service_of(request), entry.id)
    at = Addresses(reading.snapshot.folder, library_requests.view_options(request))
    beside = subtitles.of(service_of(request), reading.snapshot, entry, timezone.now())
    words = [SubtitleTrack(each.label, each.language, each.url) for each in beside]
    shown = page.player_page(reading.snapshot, entry, at, mark, subtitles=words)
    if bounds_of(request):
        return shown
    report_url, mark_url = (
        reverse(name, args=[entry.id]) for name in ("watch-position", "watch-mark")
    )
    return replace(shown, report_url=report_url, mark_url=mark_url)
