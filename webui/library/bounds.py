"""What a visitor with a link may see: one folder, or some of its entries, and all inside."""

from dataclasses import dataclass, replace
from datetime import datetime

from django.http import HttpRequest

from webui.connection.connection import Service
from webui.library import folders
from webui.library.entries import FILE, FOLDER, ROOT
from webui.library.folders import MOST_LEVELS, Reading
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents


@dataclass(frozen=True)
class Bounds:
    """`only` names entries of the folder at the top; None stands for all of them."""

    top: str
    name: str
    only: frozenset[str] | None = None

    def narrow(self, reading: Reading) -> Reading:
        """Return the folder without what is beyond: other entries, its name, and the quota."""
        snapshot = replace(reading.snapshot, space_max_bytes=None, space_used_bytes=None)
        if not self.is_top(snapshot):
            return replace(reading, snapshot=snapshot)
        snapshot = replace(snapshot, name=self.name, parent="")
        if self.only is None:
            return replace(reading, snapshot=snapshot)
        entries = [entry for entry in snapshot.contents.entries if entry.key in self.only]
        sizes = [entry.size_bytes or 0 for entry in entries]
        part = replace(snapshot, contents=Contents(entries), size_bytes=sum(sizes))
        return replace(reading, snapshot=part, is_part=True)

    def is_top(self, snapshot: Snapshot) -> bool:
        return snapshot.folder == self.top

    def hold_folder(self, service: Service, folder: str, now: datetime) -> bool:
        """Return whether a folder is inside. Each folder above is read, since any of them may have
        moved: a cached path would still lead where it was."""
        snapshot = folders.read(service, folder, now=now).snapshot
        below = ""
        for _level in range(MOST_LEVELS):
            if self.is_top(snapshot):
                return not below or self.only is None or f"{FOLDER}-{below}" in self.only
            if snapshot.folder == ROOT:
                return False
            below = snapshot.folder
            snapshot = folders.read(service, snapshot.parent or ROOT, now=now).snapshot
        return False

    def hold_entries(self, service: Service, folder: str, keys: list[str], now: datetime) -> bool:
        if self.only is not None and folder == self.top and not self.only.issuperset(keys):
            return False
        return self.hold_folder(service, folder, now)

    def hold_file(self, service: Service, folder: str, file: str, now: datetime) -> bool:
        """Return whether a file is in this folder now, and the folder is inside."""
        if not self.hold_folder(service, folder, now):
            return False
        reading = self.narrow(folders.read(service, folder, now=now))
        return reading.snapshot.contents.find(f"{FILE}-{file}") is not None


def bounds_of(request: HttpRequest) -> Bounds | None:
    """Return what the request is bound to, or None for a person who is signed in."""
    bounds: Bounds | None = vars(request).get("bounds")
    return bounds
