"""Links for other players: made by people who are signed in, opened without signing in."""

import logging
from functools import partial

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from common.http.content_disposition import disposition
from webui.activity import events
from webui.contents import relayed_files
from webui.contents.content_check import expected_file
from webui.files import screen as files_screen
from webui.http.content_types import KEPT
from webui.http.requests import Request, plain_text, service_of
from webui.http.roles import open_to, open_to_strangers
from webui.library import folders
from webui.library.addresses import folder_url
from webui.library.entries import FILE, FOLDER, Entry
from webui.library.snapshot import Snapshot
from webui.models import Role, Share
from webui.people.device_addresses import device_addresses
from webui.shares import links, screen
from webui.shares import page as pages
from webui.v1.errors import Failure, NotFound
from webui.words.formatting import Calendar

log = logging.getLogger("ferry.sharing")


# Making links


@open_to(Role.GUEST, "GET", "POST")
def entry(request: Request, folder: str, key: str) -> HttpResponse:
    chosen = files_screen.find_entry(files_screen.read(request, folder), key)
    return answer(request, chosen, folder_url(folder))


@open_to(Role.GUEST, "GET", "POST")
def folder(request: Request, folder: str) -> HttpResponse:
    """Make a link to the folder that is open, which may be the root."""
    snapshot = files_screen.read(request, folder).snapshot
    chosen = Entry(FOLDER, snapshot.folder, snapshot.name, snapshot.size_bytes, None)
    return answer(request, chosen, folder_url(folder))


def answer(request: Request, chosen: Entry, back_url: str) -> HttpResponse:
    page = pages.share_page(chosen, request.path, back_url)
    if request.method == "POST":
        page |= create_link(request, chosen)
    template = "shares/_dialog.html" if request.htmx else "shares/show.html"
    return render(request, template, {"page": page}, status=422 if "error" in page else 200)


def create_link(request: Request, chosen: Entry) -> dict[str, object]:
    """Make a link, or say why not."""
    if chosen.kind != FILE and not pages.playable_entries(snapshot_of(request, chosen.id).contents):
        return {"error": _("This folder doesn't contain any films or music. Open one that does.")}
    now = timezone.now()
    token = links.make(request.user, service_of(request).key, chosen, now)
    if token is None:
        return {"error": _("You already have 100 links. Revoke some on the account page.")}
    events.record(request, events.Kind.SHARE_MADE, chosen.name)
    path, list_url = pages.player_paths(token, chosen.kind, chosen.id, chosen.name)
    expires = Calendar.now().to_the_minute(now + links.LIFETIME)
    return {
        "text": pages.expiry_words(expires),
        "addresses": device_addresses(request, path),
        "list_url": list_url,
    }


# Opening links


@open_to_strangers("GET")
@screen.hide_from_search
def open_(request: Request, token: str, file: str, name: str) -> HttpResponseBase:
    """Send a file. A player sees only the URL, so `name` gives it a title."""
    try:
        share = find_player_link(request, token)
        entry = entry_of(request, share, file) if share else None
        return bytes_of(request, entry) if entry else over()
    except Failure as failure:
        return report_failure(failure)


@open_to_strangers("GET")
@screen.hide_from_search
def playlist(request: Request, token: str, name: str) -> HttpResponse:
    try:
        share = find_player_link(request, token)
        rows = rows_of(request, share) if share else []
    except Failure as failure:
        return report_failure(failure)
    if not rows or share is None:
        return over()
    content = pages.playlist(token, rows, request.build_absolute_uri("/")[:-1])
    response = HttpResponse(content, content_type="audio/x-mpegurl; charset=utf-8")
    response["Content-Disposition"] = disposition("attachment", f"{share.name or 'Files'}.m3u")
    response["Cache-Control"] = "private, no-store"
    return response


def find_player_link(request: Request, token: str) -> Share | None:
    """Return the link if it is for players, and note its use. Those of pages may ask for a
    password first."""
    now = timezone.now()
    share = links.find_share(token, service_of(request).key, now)
    if share is None or share.folder:
        return None
    links.note_use(share, now)
    return share


def entry_of(request: Request, share: Share, file: str) -> Entry | None:
    """Return the link's file, or a file that is currently in the link's folder."""
    if share.kind == FILE:
        is_it = share.entry_id == file
        return Entry(FILE, file, share.name, None, None) if is_it else None
    match = snapshot_of(request, share.entry_id).contents.find(f"{FILE}-{file}")
    return match if match and pages.is_played(match) else None


def rows_of(request: Request, share: Share) -> list[tuple[str, str]]:
    if share.kind == FILE:
        return [(share.entry_id, share.name)]
    entries = pages.playable_entries(snapshot_of(request, share.entry_id).contents)
    return [(entry.id, entry.name) for entry in entries]


def snapshot_of(request: Request, folder: str) -> Snapshot:
    return folders.read(service_of(request), folder, now=timezone.now()).snapshot


def bytes_of(request: Request, entry: Entry) -> HttpResponseBase:
    """Send a file. A player gets no link of the service, which would last longer than this one."""
    opening = partial(service_of(request).v1.file_link, entry.id)
    handling = KEPT._replace(content_type=pages.media_type(entry.name))
    return relayed_files.show(request, opening, lambda _download: handling, expected_file(entry))


def over() -> HttpResponse:
    return plain_text(screen.ended_words(), 404)


def report_failure(failure: Failure) -> HttpResponse:
    """Report a failure without revealing anything about the service to strangers."""
    log.warning("link failed kind=%s reason=%s", type(failure).__name__, failure)
    if isinstance(failure, NotFound):
        return over()
    response = plain_text(_("Ferry can't play this right now. Try again in a minute."), 503)
    response["Retry-After"] = "30"
    return response
