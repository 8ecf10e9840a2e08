"""Add what other programs send: links and torrent files, with a category and tags."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from django.db.models import Q
from django.utils import timezone

from common.names import safe_name
from webui.add import parse, send
from webui.add.send import SendContext, SendResult
from webui.files import changes
from webui.handover import places
from webui.http.requests import Request, service_of
from webui.library import paths
from webui.library.bounds import bounds_of, read_recent
from webui.library.entries import ROOT
from webui.library.folders import Reading
from webui.models import Category, Sent
from webui.programs.refusals import CannotDo
from webui.programs.torrents import tags_in
from webui.transfers import actions

LONGEST_CATEGORY = 100
LONGEST_TAG = 100
MOST_TAGS = 50
MOST_CATEGORIES = 1_000


@dataclass(frozen=True)
class NewTorrents:
    """What a program wants. `files`: names and contents of torrent files."""

    links: str
    files: Sequence[tuple[str, bytes]] = ()
    category: str = ""
    tags: str = ""


def add(request: Request, order: NewTorrents) -> SendResult:
    """Add links and files, and return the outcome of each. Raises Failure and CannotDo."""
    ensure_category(order.category)
    context = context_of(request, order)
    results = [
        send.send_file(context, name, BytesIO(torrent), len(torrent), torrent)
        for name, torrent in order.files
    ]
    # Programs send few at once, and none may be left.
    results += send.send(context, parse.read(order.links), clock=lambda: 0).results
    for result in results:
        if result.is_well:
            mark_again(context, result.key)
    actions.mark_changed(context.service)
    return SendResult(results, [])


def mark_again(context: SendContext, key: str) -> None:
    """Give the marks to a transfer that was there before. A category that it has stays, as with
    qBittorrent, and a copy that is gone is made again."""
    rows = Sent.objects.filter(connection=context.service.key)
    rows = rows.filter(transfer_id=key[1:]) if key[0] == "t" else rows.filter(pk=key[1:])
    rows.filter(Q(category=None) | Q(category="")).update(**context.marks)
    row = rows.first()
    if row and row.handed_at and not (places.top() / (row.handed_path or "")).exists():
        rows.update(handed_at=None, handed_path=None)


def context_of(request: Request, order: NewTorrents) -> SendContext:
    service, now = service_of(request), timezone.now()
    if bounds_of(request) and not service.takes_folder:
        raise CannotDo(403, "The storage service can't put transfers into the token's folder.")
    folder = find_folder(request, order.category, now) if service.takes_folder else ROOT
    marks = {"category": order.category, "tags": join_tags(tags_in(order.tags))}
    folder_id = None if folder == ROOT else folder
    return SendContext(service, request.user, folder_id, now, marks=marks)


def find_folder(request: Request, category: str, now: datetime) -> str:
    """Return the folder of a category at the service, which is made if it is missing."""
    service, bounds = service_of(request), bounds_of(request)
    folder = bounds.top if bounds else ROOT
    for name in map(safe_name, filter(None, category.split("/"))):
        snapshot = read_recent(service, folder, now)
        entry = paths.find_entry(service, snapshot.contents, name)
        if entry is None:
            made = changes.create_folder(request, Reading(snapshot, is_fresh=True), name)[0]
            if made is None:
                return folder
            folder = made
        elif entry.is_folder:
            folder = entry.id
        else:
            return folder
    return folder


# Categories and tags


def ensure_category(name: str) -> None:
    """Create a category unless it exists. Another request may do so at the same time."""
    if name and not Category.objects.filter(name=name).exists():
        with suppress(CannotDo):
            create_category(name)
        if not Category.objects.filter(name=name).exists():
            raise CannotDo(409, "Incorrect category name")


def create_category(name: str) -> None:
    """Remember a category. Raises CannotDo as qBittorrent does."""
    if not name:
        raise CannotDo(400, "Category cannot be empty")
    is_wrong = "\\" in name or "//" in name or name.startswith("/") or name.endswith("/")
    if is_wrong or len(name) > LONGEST_CATEGORY or not name.isprintable():
        raise CannotDo(409, "Incorrect category name")
    is_full = Category.objects.count() >= MOST_CATEGORIES
    if is_full or not Category.objects.get_or_create(name=name)[1]:
        raise CannotDo(409, "Unable to create category")


def join_tags(tags: Sequence[str]) -> str:
    once = dict.fromkeys(tag[:LONGEST_TAG] for tag in tags if tag.isprintable())
    return ", ".join(list(once)[:MOST_TAGS])
