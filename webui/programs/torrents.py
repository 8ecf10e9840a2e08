"""What other programs see of transfers: a torrent each, in the words of BitTorrent clients."""

import hashlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from datetime import datetime
from functools import cache, cached_property
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from webui.connection.connection import Service
from webui.handover import places
from webui.http.requests import Request, service_of
from webui.library.bounds import Bounds, bounds_of
from webui.library.entries import ROOT
from webui.models import Sent
from webui.transfers import poll, states
from webui.transfers.states import CachedTransfer
from webui.transfers.transfer_cache import CachedList
from webui.v1.errors import NotFound
from webui.v1.own_records import Limits, OwnLimits

# Of progress, until the last byte is where a program will look.
ALMOST = 0.999
UNLIMITED = OwnLimits(None, None, None, None)


class Marks(NamedTuple):
    """What the site remembers of a transfer for other programs, named like the columns."""

    info_hash: str = ""
    category: str | None = None
    tags: str | None = None
    handed_path: str | None = None
    handed_at: datetime | None = None
    handover_trouble: str | None = None


class Torrent(NamedTuple):
    """A transfer as other programs see it."""

    transfer: CachedTransfer
    hash: str
    marks: Marks
    folder: str  # of its category

    @property
    def category(self) -> str:
        return self.marks.category or ""

    @property
    def tags(self) -> list[str]:
        return tags_in(self.marks.tags or "")

    @property
    def is_awaited(self) -> bool:
        """Return whether a program looks for its files on this machine: for what it sorted into a
        category, and, if there is a hand-over folder, for all that it added."""
        has_folder = settings.HANDOVER_DIR is not None
        return bool(self.marks.category) or (has_folder and self.marks.category is not None)

    @property
    def is_complete(self) -> bool:
        """Return whether its files are where programs look: in the hand-over folder, or, if none
        does, with the service."""
        is_there = settings.HANDOVER_DIR is not None and self.marks.handed_at is not None
        return self.transfer.state == states.DONE and (is_there or not self.is_awaited)

    @property
    def is_missing(self) -> bool:
        """Return whether there is no folder to which its files could be handed over."""
        is_done = self.transfer.state == states.DONE
        return is_done and self.is_awaited and settings.HANDOVER_DIR is None

    @property
    def is_moving(self) -> bool:
        state = self.transfer.state
        return state == states.MOVING or (state == states.DONE and not self.is_complete)

    @property
    def is_in_trouble(self) -> bool:
        is_broken = self.transfer.state in (states.FAILED, states.NO_ROOM, states.GONE)
        is_stuck = not self.is_complete and bool(self.marks.handover_trouble)
        return is_broken or self.is_missing or is_stuck

    @property
    def trouble(self) -> str:
        """Return a word for why it is in trouble, or a reason that it waits."""
        if self.is_missing:
            return "no_handover_folder"
        return self.marks.handover_trouble or self.transfer.said or self.transfer.reason

    @property
    def progress(self) -> float:
        return 1 if self.is_complete else min(self.transfer.percent / 100, ALMOST)

    @property
    def left_bytes(self) -> int:
        if self.is_complete:
            return 0
        return max(self.transfer.size_bytes - self.transfer.done_bytes, 1)

    @property
    def path(self) -> str:
        """Return where the files are or will be, which is never the folder itself. It is empty if
        they stay with the service."""
        if self.marks.handed_path:
            return str(places.top() / self.marks.handed_path)
        if not self.is_awaited:
            return ""
        return f"{self.folder}/{places.visible_name(self.transfer.name or self.hash)}"


def tags_in(text: str) -> list[str]:
    return [tag for each in text.split(",") if (tag := each.strip())]


class Torrents:
    """The torrents that a request may see. They come from the cache of transfers, so that programs
    that ask every second cost the service hardly more than one does."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.service = service_of(request)
        self.bounds = bounds_of(request)

    @cached_property
    def cached_list(self) -> CachedList:
        return poll.refresh(self.service)

    @cached_property
    def by_hash(self) -> dict[str, Torrent]:
        """Return the torrents by hash, in the order of the queue. Raises Failure."""
        _list, marks = self.cached_list, load_marks(self.service)
        in_list = poll.store().all(self.service.key).values()
        seen: Collection[CachedTransfer] = [*in_list, *load_cleared(self.service)]
        if self.bounds:
            seen = list(within(self.service, self.bounds, seen))
        folder_of = cache(lambda category: str(places.folder_of(category or "")))
        none, torrents = Marks(), {}
        for each in seen:
            own = marks.get(each.row, none)
            info_hash = hash_of(self.service, each, own)
            torrents[info_hash] = Torrent(each, info_hash, own, folder_of(own.category))
        return torrents

    @cached_property
    def limits(self) -> Limits | None:
        """Return the limits of all transfers, if the service has any."""
        return self.service.v1.limits() if self.service.is_embedded else None

    def limits_of(self, torrent: Torrent) -> OwnLimits:
        """Return the limits that a torrent has of its own. It may have ended meanwhile."""
        if self.service.is_embedded and torrent.transfer.may_limit:
            with suppress(NotFound):
                return self.service.v1.transfer_limits(torrent.transfer.id)
        return UNLIMITED

    @property
    def rate(self) -> int:
        return sum(each.transfer.rate for each in self.by_hash.values())

    @property
    def space_bytes(self) -> tuple[int, int]:
        """Return the free space, and all of it; nothing for a token that sees only a folder."""
        if self.bounds:
            return 0, 0
        most_bytes = self.cached_list.space_max_bytes or 0
        return max(most_bytes - (self.cached_list.space_used_bytes or 0), 0), most_bytes


def within(
    service: Service, bounds: Bounds, transfers: Collection[CachedTransfer]
) -> Iterator[CachedTransfer]:
    """Yield the transfers into a token's folder, and into folders below it. What went to the root,
    since its folder was deleted meanwhile, isn't among them."""
    own = [each for each in transfers if each.row and each.reason != poll.FOLDER_GONE]
    inside = {each for each in {each.into for each in own} if is_inside(service, bounds, each)}
    return (each for each in own if each.into in inside)


def is_inside(service: Service, bounds: Bounds, folder: str) -> bool:
    try:
        return bounds.include(service, folder or ROOT, timezone.now())
    except NotFound:
        return False


CLEARED = Q(cleared_at__isnull=False, category__isnull=False, state=states.DONE)
"""What people cleared from the list. Programs may not have imported it yet."""


def load_cleared(service: Service) -> list[CachedTransfer]:
    records = poll.records_of(Sent.objects.filter(CLEARED, connection=service.key))
    now = poll.store().now()
    return [states.derive_unlisted(each, None, now)._replace(percent=100) for each in records]


def load_marks(service: Service) -> dict[int, Marks]:
    rows = Sent.objects.filter(Q(cleared_at=None) | CLEARED, connection=service.key).order_by()
    return {pk: Marks(*marks) for pk, *marks in rows.values_list("pk", *Marks._fields)}


def hash_of(service: Service, transfer: CachedTransfer, marks: Marks) -> str:
    """Return the info hash. Fetched files have none, so one is made up."""
    info_hash = marks.info_hash or transfer.hash
    if info_hash:
        return info_hash.lower()
    name = f"{service.key} {transfer.row or transfer.id}"
    return hashlib.sha256(name.encode()).hexdigest()[:40]
