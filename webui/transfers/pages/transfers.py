"""The Transfers screen: running and finished transfers, with every word ready."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from urllib.parse import urlencode
from zlib import crc32

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.library.addresses import folder_url
from webui.library.entries import ROOT
from webui.transfers.groups import Groups, Totals
from webui.transfers.list_options import ListOptions
from webui.transfers.pages.tools import Tools
from webui.transfers.pages.words import RowContext, origin, words_of
from webui.transfers.states import (
    DONE,
    FAILED,
    GONE,
    METADATA,
    MOVING,
    PAUSABLE,
    QUEUED,
    STOPPED,
    CachedTransfer,
)
from webui.transfers.transfer_cache import CachedList
from webui.v1.errors import Failure
from webui.words import formatting, joining
from webui.words.failures import ErrorMessage, message_of
from webui.words.formatting import name_parts

WINDOW = 100
CROWD = 40
MOST_ARRIVED = 20
LIVELY_MS, IDLE_MS, AWAY_MS = 2_000, 4_000, 30_000
LARGEST_WINDOW = 10_000

Values = dict[str, Any]  # what a template shows


class Windows(NamedTuple):
    """How many rows of each group a page shows. URLs use these names, too."""

    active: int = WINDOW
    failed: int = WINDOW
    done: int = WINDOW

    @property
    def tail(self) -> str:
        sizes = self._asdict()
        return urlencode({name: size for name, size in sizes.items() if size != WINDOW})


class Excerpt(NamedTuple):
    """What a page shows of the list: the groups of what matches, and how much of each."""

    groups: Groups
    options: ListOptions = ListOptions()
    windows: Windows = Windows()

    @property
    def url(self) -> str:
        return self.url_with(self.windows)

    def url_with(self, windows: Windows) -> str:
        query = "&".join(filter(None, (self.options.tail, windows.tail)))
        return f"{reverse('transfers')}?{query}" if query else reverse("transfers")

    @property
    def order(self) -> int:
        """Return a number that other rows, or another order, would change."""
        shown = (group[:size] for group, size in zip(self.groups, self.windows, strict=True))
        return crc32("\n".join(map(",".join, shown)).encode())


@dataclass(frozen=True)
class Seen:
    """What a page already shows, according to its revision. `counts`: how many rows each group had
    then, in its window and beyond. `order`: which rows, if that isn't the whole list."""

    number: int
    windows: Windows
    counts: tuple[int, ...]
    order: int = 0

    def is_latest(self, cached_list: CachedList, windows: Windows) -> bool:
        return self.number == cached_list.number and self.windows == windows


def page_of(  # noqa: PLR0913  Two facts of the cached list, two of the reader, three of the page.
    cached_list: CachedList,
    transfers: Mapping[str, CachedTransfer],
    excerpt: Excerpt,
    context: RowContext,
    *,
    seen: Seen | None = None,
    arrived: Sequence[CachedTransfer] = (),
    tools: Tools | None = None,
) -> Values:
    totals, is_same = cached_list.totals, has_order(cached_list, excerpt, seen)
    return {
        "document_title": document_title(totals),
        "summary": summary(totals, len(cached_list.groups.under_way)),
        "running": totals.running,
        "revision": revision_of(cached_list, excerpt, context),
        "tail": excerpt.options.tail,
        "url": excerpt.url,
        "count": count_of(excerpt.groups),
        "matches": match_words(excerpt, cached_list.groups),
        "sizes": excerpt.windows._asdict(),
        "every_ms": every_ms(totals, context),
        **{
            name: list_of(name, excerpt, transfers, context, is_same=is_same)
            for name in Windows._fields
        },
        "arrived": [
            (each.key, _("%(name)s is in your files") % {"name": each.name})
            for each in arrived[:MOST_ARRIVED]
        ],
        "away": context.away,
        "may_change": context.may_change and context.away is None,
        "is_own": context.is_own,
        "is_narrow": excerpt.options.is_narrow,
        "is_empty": not count_of(cached_list.groups),
        "tools": tools,
    }


def list_of(
    name: str,
    excerpt: Excerpt,
    transfers: Mapping[str, CachedTransfer],
    context: RowContext,
    *,
    is_same: bool,
) -> Values:
    """Describe a group. Its rows have the keys of the window; a row is None if the page has it
    already. If the page has their order too (`is_same`), only rows that changed are there."""
    size, group = getattr(excerpt.windows, name), excerpt.groups[Windows._fields.index(name)]
    keys, wider = group[:size], excerpt.windows._replace(**{name: size + WINDOW})
    rows = {key: row_of(transfers[key], context) for key in keys if key in transfers}
    return {
        "rows": [(key, rows.get(key)) for key in keys if not is_same or key in rows],
        "is_same": is_same,
        "count": formatting.count_words(len(group)),
        "is_empty": not group,
        "more_url": excerpt.url_with(wider) if len(group) > size else "",
        "is_crowd": len(keys) > CROWD,
    }


def count_of(groups: Groups) -> int:
    return sum(map(len, groups))


def every_ms(totals: Totals, context: RowContext) -> int:
    if context.away:
        return AWAY_MS
    return LIVELY_MS if totals.is_lively else IDLE_MS


def revision_of(cached_list: CachedList, excerpt: Excerpt, context: RowContext) -> str:
    """Return a page's revision. It contains the day, since rows say `Today`."""
    epoch = f"{cached_list.epoch}{context.calendar.day_number}"
    parts = [epoch, cached_list.number, *excerpt.windows, *map(len, excerpt.groups)]
    if tag := excerpt.options.tag:
        parts += [tag, excerpt.order]
    return ".".join(map(str, parts))


def seen_of(
    revision: str, cached_list: CachedList, options: ListOptions, context: RowContext
) -> Seen | None:
    """Parse a revision. Return None if it is of another service, day, or choice of transfers, or
    was made up."""
    parts = revision.split(".")
    epoch = f"{cached_list.epoch}{context.calendar.day_number}"
    if len(parts) not in (8, 10) or parts[0] != epoch or not all(map(is_count, parts[1:])):
        return None
    number, *sizes = map(int, parts[1:8])
    tag, order = map(int, parts[8:] or (0, 0))
    seen = Seen(number, Windows(*sizes[:3]), tuple(sizes[3:]), order)
    return seen if number <= cached_list.number and tag == options.tag else None


def windows_of(query: Mapping[str, str]) -> Windows:
    sizes = (query.get(name, "") for name in Windows._fields)
    return Windows(
        *(
            min(max(int(size), WINDOW), LARGEST_WINDOW) if is_count(size) else WINDOW
            for size in sizes
        )
    )


def is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 12


def missing(
    cached_list: CachedList, excerpt: Excerpt, seen: Seen | None, changed: Container[str]
) -> list[str]:
    """Return the keys of the unchanged rows that the page may lack, as they were beyond its window.

    Unchanged rows keep their order. So no row moved up by more places than there are rows of its
    group that changed or left.
    """
    if seen is None:
        return [
            key
            for group, end in zip(excerpt.groups, excerpt.windows, strict=True)
            for key in group[:end]
        ]
    keys: list[str] = []
    if has_order(cached_list, excerpt, seen):
        return keys
    for group, end, had, count in zip(
        excerpt.groups, excerpt.windows, seen.windows, seen.counts, strict=True
    ):
        if count > had:
            unchanged = [key for key in group if key not in changed]
            keys += unchanged[max(had - (count - len(unchanged)), 0) : end]
    return keys


def has_order(cached_list: CachedList, excerpt: Excerpt, seen: Seen | None) -> bool:
    if seen is None or seen.windows != excerpt.windows:
        return False
    if excerpt.options.tag:
        return seen.order == excerpt.order
    return cached_list.ordered <= seen.number


# Words


def summary(totals: Totals, under_way: int) -> str:
    """Return `3 running, 14.2 MB/s, about 12 minutes left`, or how many are under way."""
    if not under_way:
        return _("Nothing running")
    if not totals.running:
        return _("%(count)s in progress") % {"count": formatting.count_words(under_way)}
    words = [_("%(count)s running") % {"count": formatting.count_words(totals.running)}]
    if totals.rate:
        words.append(formatting.rate_words(totals.rate))
    if totals.left_seconds is not None:
        words.append(_("about %(time)s left") % {"time": formatting.long_time(totals.left_seconds)})
    return joining.items(words)


def match_words(excerpt: Excerpt, whole: Groups) -> str:
    """Return `12 of 300` while a person sees only some."""
    if not excerpt.options.is_narrow:
        return ""
    count = count_of(excerpt.groups)
    if not count:
        return _("No transfers match.")
    numbers = {"count": formatting.count_words(count)}
    return _("%(count)s of %(all)s") % {**numbers, "all": formatting.count_words(count_of(whole))}


def document_title(totals: Totals) -> str:
    words = _("Transfers")
    if totals.running and totals.percent is not None:
        return _("%(percent)s%% · %(page)s") % {"percent": totals.percent, "page": words}
    return words


def row_of(transfer: CachedTransfer, context: RowContext) -> Values:
    word, tone, icon, facts = words_of(transfer, context)
    name, url = transfer.name or _("Unnamed"), f"{reverse('transfers')}{transfer.key}/"
    acts = acts_of(transfer, context)
    pause_label = _("Continue %(name)s") if transfer.state == STOPPED else _("Pause %(name)s")
    return {
        "key": transfer.key,
        "state": STATES.get(transfer.state, transfer.state),
        "size_bytes": transfer.size_bytes,
        "name_parts": name_parts(name),
        "percent": percent_of(transfer),
        "progress": "" if transfer.state == METADATA else f"{min(transfer.percent, 100):.1f}",
        "has_route": not (transfer.is_ended or transfer.awaits_choice),
        "word": word,
        "tone": tone,
        "icon": icon,
        "facts": [fact for fact in facts if fact],
        "origin": origin(transfer, context.calendar),
        "open_url": f"{url}open/" if transfer.folder or transfer.file else "",
        "details_url": f"{url}details/" if context.is_own and transfer.id else "",
        "url": url,
        "may_select": context.may_change and context.away is None,
        "may": acts,
        "acts": " ".join(act for act, may in acts.items() if may),  # of the menu and the bar
        "awaits_choice": acts["choose"] and transfer.awaits_choice,
        "select_label": _("Select %(name)s") % {"name": name},
        "pause_label": pause_label % {"name": name},
        "cancel_label": _("Cancel %(name)s") % {"name": name},
        "actions_label": _("Actions for %(name)s") % {"name": name},
    }


def acts_of(transfer: CachedTransfer, context: RowContext) -> dict[str, bool]:
    """Return what this person may do with the transfer now."""
    may_change = context.may_change and context.away is None
    may_order = may_change and context.is_own and not transfer.is_ended
    return {
        "pause": may_order and transfer.state in PAUSABLE,
        "resume": may_order and transfer.state == STOPPED,
        "move": may_order,
        "choose": may_change and context.is_own and has_choice(transfer),
        "limit": may_order and transfer.may_limit,
        "cancel": may_change and not transfer.is_ended,
        "retry": may_change and transfer.state in (FAILED, GONE) and bool(transfer.row),
        "clear": may_change and transfer.is_ended,
        "file": may_change and bool(transfer.folder or transfer.file),
        "copy": context.may_change and bool(transfer.hash or transfer.kind in ("magnet", "url")),
    }


STATES = {DONE: "moved", GONE: "failed"}


def has_choice(transfer: CachedTransfer) -> bool:
    return transfer.file_count > 1 and transfer.state not in (MOVING, FAILED, GONE)


def percent_of(transfer: CachedTransfer) -> str:
    """Return the percentage, rounded down: never 100 before everything has arrived."""
    is_waiting = transfer.state in (QUEUED, METADATA) or transfer.awaits_choice
    if is_waiting or transfer.is_ended:
        return ""
    return str(int(min(transfer.percent, 100)))


def away_words(since: str, failure: Failure) -> ErrorMessage:
    text = _(
        "You're seeing an earlier state of these transfers (%(time)s). Ferry will reconnect on "
        "its own."
    )
    return replace(message_of(failure), text=text % {"time": since})


def destination_of(folder: str, name: str) -> tuple[str, str] | None:
    """Return words and a link to the folder that was chosen, unless no one has opened it."""
    if not name and folder != ROOT:
        return None
    words = _("The files will be in %(folder)s.") % {"folder": name or _("All files")}
    return words, folder_url(folder)


def loss_words(transfer: CachedTransfer) -> str:
    if transfer.is_ended:
        return _("This transfer has ended. Files that already arrived stay in your files.")
    if not transfer.done_bytes:
        return _("Ferry hasn't downloaded any of it yet.")
    text = _(
        "This transfer is %(percent)s%% done. Ferry will delete the %(size)s downloaded so far."
    )
    size = formatting.size_words(transfer.done_bytes)
    return text % {"percent": int(min(transfer.percent, 100)), "size": size}
