"""The Add screen: the field, the page that asks before it adds, and their results."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.add.pages.outcomes import ResultsPanel
from webui.add.parse import Item, MagnetItem, UnreadableItem
from webui.library.entries import ROOT
from webui.storage_meter import Gauge
from webui.words import joining, reasons
from webui.words.formatting import count_words, more_words, size_words
from webui.words.joining import sentences

LONGEST_SHOWN = 300
MOST_PICKS = 500
MOST_MARKS, LONGEST_MARKED = 5, 60
MOST_NAMES = 3


@dataclass(frozen=True)
class AddBox:
    """The field for links and files. `folders`: ids and names, unless the service takes none."""

    folders: list[tuple[str, str]]
    chosen: str
    free_text: str
    free_sentence: str
    takes_folder: bool
    may_choose: bool = False  # which files of torrents to fetch
    text: str = ""
    left: str = ""
    results: ResultsPanel | None = None


@dataclass(frozen=True)
class Mark:
    """A line of the field that isn't a link."""

    place: str
    line: str
    why: str


@dataclass(frozen=True)
class FieldReading:
    """How the field's text was read. `button` is empty for fewer than two links."""

    found: str
    button: str
    marks: list[Mark]
    more: str


@dataclass(frozen=True)
class Pick:
    line: str
    icon: str
    name: str
    note: str
    size_bytes: int = 0
    is_readable: bool = True

    @property
    def size(self) -> str:
        return size_words(self.size_bytes) if self.size_bytes else ""


@dataclass(frozen=True)
class PickList:
    """Items to choose from. One row, `more`, stands for those beyond MOST_PICKS."""

    rows: list[Pick]
    hidden_text: str
    more: str


@dataclass(frozen=True)
class AskPage:
    """Items that came from elsewhere, before any is added."""

    title: str
    said: str
    picks: PickList
    hint: str
    button: str
    is_awaited: bool
    is_done: bool


def add_box(
    folders: Sequence[tuple[str, str]], chosen: str, gauge: Gauge | None, *, takes_folder: bool
) -> AddBox:
    return AddBox(
        folders=[(ROOT, _("All files")), *folders] if folders else [],
        chosen=chosen or ROOT,
        free_text=_("%(size)s free") % {"size": gauge.free} if gauge else "",
        free_sentence=_("%(size)s free.") % {"size": gauge.free} if gauge else "",
        takes_folder=takes_folder,
    )


def left_words(count: int) -> str:
    if not count:
        return ""
    words = ngettext(
        "Ferry hasn't sent %(count)s line yet. Select Add again.",
        "Ferry hasn't sent %(count)s lines yet. Select Add again.",
        count,
    )
    return words % {"count": count_words(count)}


def field_reading(items: Sequence[Item]) -> FieldReading:
    bad = [item for item in items if isinstance(item, UnreadableItem)]
    links = [item for item in items if not isinstance(item, UnreadableItem)]
    count = {"count": count_words(len(links))}
    return FieldReading(
        found=found_words([link.name for link in links]),
        button=_("Add %(count)s") % count if len(links) > 1 else "",
        marks=[mark_of(item) for item in bad[:MOST_MARKS]],
        more=more_words(len(bad) - MOST_MARKS),
    )


def found_words(names: Sequence[str]) -> str:
    if not names:
        return ""
    words = ngettext("%(count)s link: %(names)s", "%(count)s links: %(names)s", len(names))
    name_list = joining.items(f"\u2068{name[:LONGEST_SHOWN]}\u2069" for name in names[:MOST_NAMES])
    return words % {"count": count_words(len(names)), "names": name_list}


def mark_of(item: UnreadableItem) -> Mark:
    place = _("Line %(number)s") % {"number": count_words(item.line_number)}
    is_long = len(item.line) > LONGEST_MARKED
    line = f"{item.line[:LONGEST_MARKED]}…" if is_long else item.line
    return Mark(place, line, reasons.find(item.why).text)


def pick_list(items: Sequence[Item]) -> PickList:
    hidden = [item.line for item in items[MOST_PICKS:] if not isinstance(item, UnreadableItem)]
    rows = [pick_of(item) for item in items[:MOST_PICKS]]
    return PickList(rows, "\n".join(hidden), more_words(len(hidden)))


def ask_page(items: Sequence[Item], box: AddBox, *, is_awaited: bool) -> AskPage:
    is_done = box.results is not None and box.results.is_well and not box.left
    readable = sum(not isinstance(item, UnreadableItem) for item in items)
    return AskPage(
        title=ask_title(readable, box, is_awaited=is_awaited, is_done=is_done),
        said=said_words(box.results, is_done=is_done),
        picks=pick_list(items),
        hint=hint_words(items, box),
        button=button_words(readable),
        is_awaited=is_awaited,
        is_done=is_done,
    )


def ask_title(count: int, box: AddBox, *, is_awaited: bool, is_done: bool) -> str:
    if is_done and box.results:
        return _("In progress") if box.results.has_added else _("Already in Ferry")
    if is_awaited:
        return _("Add")
    if count == 1:
        return _("Add this download?")
    words = ngettext("Add %(count)s link?", "Add %(count)s links?", count)
    return words % {"count": count_words(count)} if count else _("Nothing to add")


def said_words(results: ResultsPanel | None, *, is_done: bool) -> str:
    if results is None or not results.has_items:
        return ""
    if not is_done:
        return results.summary
    return _("{outcomes}. You can close this window.").format(outcomes=results.summary)


def button_words(count: int) -> str:
    if count == 1:
        return _("Add transfer")
    words = ngettext("Add %(count)s transfer", "Add %(count)s transfers", count)
    return words % {"count": count_words(count)}


def hint_words(items: Sequence[Item], box: AddBox) -> str:
    size = sum(item.size_bytes or 0 for item in items if isinstance(item, MagnetItem))
    if not size or not box.free_sentence:
        return box.free_sentence
    needed = _("You need at least {size}.").format(size=size_words(size))
    return sentences((needed, box.free_sentence))


def pick_of(item: Item) -> Pick:
    if isinstance(item, UnreadableItem):
        name, why = item.line[:LONGEST_SHOWN], reasons.find(item.why).text
        return Pick(item.line, "circle-alert", name, why, is_readable=False)
    name = item.name[:LONGEST_SHOWN]
    if isinstance(item, MagnetItem):
        note = magnet_words(item.tracker_count)
        return Pick(item.line, "magnet", name, note, item.size_bytes or 0)
    host = {"host": item.host[:LONGEST_SHOWN]}
    return Pick(item.line, "link", name, _("%(host)s, web address") % host)


def magnet_words(trackers: int) -> str:
    if not trackers:
        return _("magnet link")
    words = ngettext("magnet, %(count)s tracker", "magnet, %(count)s trackers", trackers)
    return words % {"count": count_words(trackers)}
