"""What a visitor with a link may see: one folder, or some of its entries, and all inside."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.http import HttpRequest

from webui.connection.connection import Service
from webui.library import folders
from webui.library.entries import FOLDER, ROOT
from webui.library.folders import MOST_LEVELS, Reading
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents
from webui.v1.errors import Failure, Unavailable

RECENT = timedelta(minutes=1)


@dataclass(frozen=True)
class Bounds:
    """`only` names entries of the folder at the top; None stands for all of them."""

    top: str
    name: str
    only: frozenset[str] | None = None

    def narrow(self, reading: Reading) -> Reading:
        """Return the folder without what the link doesn't cover: entries, its name, the quota."""
        snapshot = self._part_of(reading.snapshot)
        is_part = self.only is not None and self.is_top(snapshot)
        return replace(reading, snapshot=snapshot, is_part=is_part)

    def _part_of(self, snapshot: Snapshot) -> Snapshot:
        snapshot = replace(snapshot, space_max_bytes=None, space_used_bytes=None)
        if not self.is_top(snapshot):
            return snapshot
        snapshot = replace(snapshot, name=self.name, parent="")
        if self.only is None:
            return snapshot
        entries = [entry for entry in snapshot.contents.entries if entry.key in self.only]
        sizes = [entry.size_bytes or 0 for entry in entries]
        return replace(snapshot, contents=Contents(entries), size_bytes=sum(sizes))

    def is_top(self, snapshot: Snapshot) -> bool:
        return snapshot.folder == self.top

    def include(
        self, service: Service, folder: str, now: datetime, keys: Iterable[str] = ()
    ) -> bool:
        """Return whether a folder is inside, and has these entries now."""
        snapshot = self._find(service, folder, now)
        if snapshot is None:
            return False
        contents = self._part_of(snapshot).contents
        return all(contents.find(key) is not None for key in keys)

    def _find(self, service: Service, folder: str, now: datetime) -> Snapshot | None:
        """Return a folder if it is inside. Each folder above is read, since any of them may have
        moved: a cached path would still lead where it was."""
        snapshot = folder_itself = read_recent(service, folder, now)
        below = ""
        for _level in range(MOST_LEVELS):
            if self.is_top(snapshot):
                is_inside = not below or self.only is None or f"{FOLDER}-{below}" in self.only
                return folder_itself if is_inside else None
            if snapshot.folder == ROOT:
                return None
            below = snapshot.folder
            snapshot = read_recent(service, parent_of(service, snapshot), now)
        return None


def read_recent(service: Service, folder: str, now: datetime) -> Snapshot:
    """Read a folder as it was at most a minute ago. A foreign service's may be cached for long."""
    snapshot = folders.read(service, folder, now=now).snapshot
    if service.is_embedded or now - snapshot.read_at < RECENT:
        return snapshot
    return folders.read(service, folder, now=now, at_once=True).snapshot


def parent_of(service: Service, snapshot: Snapshot) -> str:
    """Return the folder above. The service may list the root under another id."""
    root = folders.store().find(service.key, ROOT)
    is_below_root = not snapshot.parent or (root and snapshot.parent == root.own_id)
    return ROOT if is_below_root else snapshot.parent


def for_visitors(request: HttpRequest, failure: Failure) -> Failure:
    """Return the failure. For visitors, drop its details, which describe the person's service."""
    return Unavailable("visitor") if bounds_of(request) else failure


def bounds_of(request: HttpRequest) -> Bounds | None:
    """Return what the request is bound to, or None for a person who is signed in."""
    bounds: Bounds | None = vars(request).get("bounds")
    return bounds
