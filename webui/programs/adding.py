"""Add what other programs send: links and torrent files, with a category and tags."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

from django.db.models import Q, QuerySet
from django.utils import timezone

from common.names import key_of, safe_name
from webui.add import parse, send
from webui.add.send import SendContext, SendResult
from webui.connection.connection import Service
from webui.files import changes
from webui.handover import places
from webui.http.requests import Request, service_of
from webui.library import paths
from webui.library.bounds import Bounds, bounds_of, read_recent
from webui.library.entries import ROOT
from webui.library.folders import Reading
from webui.models import Category, Sent
from webui.programs.calls import CannotDo
from webui.programs.torrents import Torrents, is_inside, tags_in
from webui.transfers import actions, poll
from webui.v1.errors import NotFound

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
    context, bounds = context_of(request, order), bounds_of(request)
    before = known_keys(context.service) if bounds else frozenset()
    results = [
        send.send_file(context, name, BytesIO(torrent), len(torrent), torrent)
        for name, torrent in order.files
    ]
    # Programs send few at once, and none may be left.
    results += send.send(context, parse.read(order.links), clock=lambda: 0).results
    new = {each.key for each in results if each.outcome == "added"} - before
    outside = []
    for result in (each for each in results if each.is_well):
        was_there = result.key not in new
        if bounds and is_outside(context, result.key, bounds, was_there=was_there):
            outside.append(result)
        else:
            mark_again(context, result.key)
    actions.mark_changed(context.service)
    if outside:
        raise CannotDo(409, "It is there already, outside the token's folder.")
    return SendResult(results, [])


def known_keys(service: Service) -> frozenset[str]:
    poll.refresh(service)
    return frozenset(poll.store().all(service.key))


def is_outside(context: SendContext, key: str, bounds: Bounds, *, was_there: bool) -> bool:
    """Return whether a transfer was there before, and not in the token's folder. If the site hadn't
    added it, its new row, which has that folder, is deleted: the transfer may be anywhere."""
    row = rows_of(context.service, key).first()
    if row and was_there and row.added_at == context.now:
        row.delete()
        return True
    return row is not None and not is_inside(context.service, bounds, row.folder_id)


def rows_of(service: Service, key: str) -> QuerySet[Sent]:
    rows = Sent.objects.filter(connection=service.key)
    return rows.filter(transfer_id=key[1:]) if key[0] == "t" else rows.filter(pk=key[1:])


def mark_again(context: SendContext, key: str) -> None:
    """Give the marks to a transfer that was there before. A category that it has stays, as with
    qBittorrent, and a copy that is gone is made again."""
    rows = rows_of(context.service, key)
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
    for name in folder_names(category):
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


def folder_names(category: str) -> list[str]:
    return [safe_name(name) for name in category.split("/") if name]


# Categories and tags


def category_names(torrents: Torrents) -> list[str]:
    """Return the categories; for a token with a folder, those that it has or uses."""
    names = Category.objects.order_by("name").values_list("name", flat=True)
    if torrents.bounds is None:
        return list(names)
    service, top, now = torrents.service, torrents.bounds.top, timezone.now()
    used = {each.category for each in torrents.by_hash.values()}
    try:
        contents = read_recent(service, top, now).contents
    except NotFound:
        return [name for name in names if name in used]
    folders = {key_of(own) for own, each in paths.path_names(service, contents) if each.is_folder}

    def has_folder(name: str) -> bool:
        first, *rest = folder_names(name)
        is_there = key_of(first) in folders
        return is_there and (not rest or bool(paths.find_folder(service, [first, *rest], now, top)))

    return [name for name in names if name in used or has_folder(name)]


def create_category(torrents: Torrents, name: str) -> None:
    """Remember a category. Raises CannotDo as qBittorrent does."""
    if not name:
        raise CannotDo(400, "Category cannot be empty")
    if name in category_names(torrents):
        raise CannotDo(409, "Unable to create category")
    ensure_category(name)
    if torrents.bounds:
        find_folder(torrents.request, name, timezone.now())


def ensure_category(name: str) -> None:
    """Create a category unless it exists. Another request may do so at the same time."""
    if not name or Category.objects.filter(name=name).exists():
        return
    is_wrong = "\\" in name or "//" in name or name.startswith("/") or name.endswith("/")
    if is_wrong or len(name) > LONGEST_CATEGORY or not name.isprintable():
        raise CannotDo(409, "Incorrect category name")
    if Category.objects.count() >= MOST_CATEGORIES:
        raise CannotDo(409, "Unable to create category")
    Category.objects.get_or_create(name=name)


def remove_categories(torrents: Torrents, names: Sequence[str]) -> None:
    """Forget categories; with a token for a folder, only for its torrents."""
    rows = Sent.objects.filter(connection=torrents.service.key, category__in=names)
    if torrents.bounds:
        rows = rows.filter(pk__in=[each.transfer.row for each in torrents.by_hash.values()])
    else:
        Category.objects.filter(name__in=names).delete()
    rows.update(category="")


def join_tags(tags: Sequence[str]) -> str:
    once = dict.fromkeys(tag[:LONGEST_TAG] for tag in tags if tag.isprintable())
    return ", ".join(list(once)[:MOST_TAGS])
