"""What a page of files shows besides the folder itself."""

from dataclasses import dataclass

from webui.library.entries import ROOT, Entry
from webui.library.snapshot import Snapshot
from webui.player.position import Position
from webui.unpacking.page import UnpackingList
from webui.words.formatting import Calendar


@dataclass(frozen=True)
class Stale:
    since: str
    title: str
    text: str


@dataclass(frozen=True)
class InterruptedUpload:
    name: str
    text: str
    percent: int
    cancel_url: str


@dataclass(frozen=True)
class FilesContext:
    calendar: Calendar
    origin: str = ""
    may_change: bool = False
    stale: Stale | None = None
    is_fresh: bool = True
    takes_folder: bool = True
    can_search: bool = False
    can_share: bool = False
    can_restore: bool = False
    can_move: bool = False
    can_unpack: bool = False
    thumbs_by_kind: bool = False
    top: str = ROOT  # where the breadcrumbs begin
    top_name: str = ""
    ancestors: tuple[tuple[str, str], ...] = ()
    positions: frozenset[tuple[str, Position]] = frozenset()  # by the file's id
    begun: tuple[tuple[Snapshot, Entry, Position], ...] = ()
    interrupted: tuple[InterruptedUpload, ...] = ()
    unpacking: UnpackingList | None = None
