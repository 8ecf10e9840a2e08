"""Which transfers a person wants to see, and in which order."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from webui.library.entries import ROOT
from webui.transfers import states
from webui.transfers.groups import Groups, group_transfers
from webui.transfers.states import CachedTransfer

LONGEST_QUERY = 200
LONGEST_ID = 150
# No person has this name.
OTHER_PROGRAMS = "*"
STATES: Mapping[str, frozenset[str]] = {
    "running": frozenset({states.MOVING, states.DOWNLOADING, states.METADATA}),
    "stalled": frozenset({states.STALLED, states.NO_ROOM}),
    "waiting": frozenset({states.QUEUED}),
    "paused": frozenset({states.STOPPED}),
    "failed": frozenset({states.FAILED, states.GONE}),
    "done": frozenset({states.DONE}),
}


def added_at(transfer: CachedTransfer) -> float:
    return transfer.added_at or transfer.since


# Without a name, the order is that of the queue.
SORTS: Mapping[str, Callable[[CachedTransfer], float]] = {
    "-time": lambda each: -added_at(each),
    "time": added_at,
    "-size": lambda each: -each.size_bytes,
    "size": lambda each: each.size_bytes,
    "-progress": lambda each: -each.percent,
    "progress": lambda each: each.percent,
    "-speed": lambda each: -each.rate,
}


class ListOptions(NamedTuple):
    """How to show the list. URLs use these names, too; each is empty if a person hasn't chosen."""

    q: str = ""
    state: str = ""
    folder: str = ""
    by: str = ""
    sort: str = ""

    @property
    def tail(self) -> str:
        return urlencode({name: value for name, value in self._asdict().items() if value})

    @property
    def is_narrow(self) -> bool:
        return any(self._replace(sort=""))

    @property
    def tag(self) -> int:
        """Return a number for revisions of pages: 0 for the whole list in its usual order."""
        return crc32(self.tail.encode())

    def match(self, transfer: CachedTransfer) -> bool:
        if self.state and transfer.state not in STATES[self.state]:
            return False
        if self.folder and (not transfer.row or self.folder != (transfer.into or ROOT)):
            return False
        if self.by and self.by != person_of(transfer):
            return False
        name = transfer.name.casefold()
        return all(word in name for word in self.q.casefold().split())

    def group(self, transfers: Iterable[CachedTransfer]) -> Groups:
        """Group the transfers that match. `transfers` are in the order of the queue."""
        matching = {each.key: each for each in transfers if self.match(each)}
        groups = group_transfers(matching.values())
        if not self.sort:
            return groups
        value_of = SORTS[self.sort]
        return Groups(*[sorted(each, key=lambda key: value_of(matching[key])) for each in groups])


def person_of(transfer: CachedTransfer) -> str:
    return transfer.by if transfer.row else OTHER_PROGRAMS


def options_of(fields: Mapping[str, str]) -> ListOptions:
    """Read the fields of a URL or form, and ignore what it can't mean."""
    state, sort = fields.get("state", ""), fields.get("sort", "")
    return ListOptions(
        q=" ".join(fields.get("q", "")[:LONGEST_QUERY].split()),
        state=state if state in STATES else "",
        folder=fields.get("folder", "")[:LONGEST_ID],
        by=fields.get("by", "")[:LONGEST_ID],
        sort=sort if sort in SORTS else "",
    )


def parse(tail: str) -> ListOptions:
    """Read what `tail` returns."""
    return options_of(dict(parse_qsl(tail)))
