"""Say what became of each item that was added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from webui.add.parse import Item, MagnetItem, UnreadableItem
from webui.v1.errors import Failure, NoRoom, NotFound, Rejected
from webui.words import joining, reasons
from webui.words.failures import message_of, said_by
from webui.words.formatting import count_words, more_words, size_words
from webui.words.joining import sentences

Outcome = Literal["added", "known", "refused", "no_room", "unreadable", "unsure"]

MOST_SHOWN = 100
LONGEST_SHOWN = 300
ICONS_AND_TONES: dict[Outcome, tuple[str, str]] = {
    "added": ("circle-check", ""),
    "known": ("info", ""),
    "refused": ("circle-alert", "red"),
    "no_room": ("hard-drive", "red"),
    "unreadable": ("circle-alert", "amber"),
    "unsure": ("circle-alert", "amber"),
}


@dataclass(frozen=True)
class SentFile:
    """A file that was sent with its bytes. It can't be put back into the field, so no `line`."""

    name: str
    line: str = ""


@dataclass(frozen=True)
class ItemResult:
    """The outcome of one item. `is_kept`: the service keeps it as a wish. `key`: of its row among
    the transfers. `url`: opens the transfer if it was already here."""

    item: Item | SentFile
    outcome: Outcome
    sentence: str
    is_kept: bool = False
    key: str = ""
    url: str = ""

    @property
    def is_well(self) -> bool:
        return self.outcome in ("added", "known")

    @property
    def is_plain(self) -> bool:
        """Return whether it was added, and there is nothing more to say about it."""
        return self.outcome == "added" and self.sentence == added_words(self.item, is_known=False)

    @property
    def line(self) -> str:
        """Return the line to put back into the field for another try."""
        return "" if self.is_well or self.is_kept else self.item.line

    @property
    def name(self) -> str:
        return self.item.line if isinstance(self.item, UnreadableItem) else self.item.name


@dataclass(frozen=True)
class ResultRow:
    key: str
    outcome: Outcome
    tone: str
    icon: str
    name: str
    sentence: str
    url: str


@dataclass(frozen=True)
class ResultsPanel:
    """The outcomes of all items. Screen readers announce `summary`. An item has a row unless it was
    simply added; a single item always has a row, to show its name."""

    summary: str
    is_well: bool
    has_items: bool
    has_added: bool
    rows: list[ResultRow]
    more: str
    failure: str


def results_panel(results: Sequence[ItemResult], failure: str = "") -> ResultsPanel:
    worth_a_row = [each for each in results if each.outcome != "added" or len(results) == 1]
    in_order = sorted(worth_a_row, key=lambda result: result.is_well)
    return ResultsPanel(
        summary=summary_words(results),
        is_well=not failure and all(result.is_well for result in results),
        has_items=bool(results),
        has_added=any(result.outcome == "added" for result in results),
        rows=[row_of(result) for result in in_order[:MOST_SHOWN]],
        more=more_words(len(in_order) - MOST_SHOWN),
        failure=failure,
    )


def row_of(result: ItemResult) -> ResultRow:
    icon, tone = ICONS_AND_TONES[result.outcome]
    return ResultRow(
        key=result.key,
        outcome=result.outcome,
        tone=tone,
        icon=icon,
        name=result.name[:LONGEST_SHOWN],
        sentence=result.sentence,
        url=result.url,
    )


def summary_words(results: Sequence[ItemResult]) -> str:
    """Return `2 added, 1 already here, 3 not added`, as the scripts do."""
    added = sum(result.outcome == "added" for result in results)
    duplicates = sum(result.outcome == "known" for result in results)
    parts = {
        _("{count} added"): added,
        _("{count} already here"): duplicates,
        _("{count} not added"): len(results) - added - duplicates,
    }
    shown = [text.format(count=count_words(count)) for text, count in parts.items() if count]
    return joining.items(shown) or _("Nothing to add")


# Sentences


def added_words(item: Item | SentFile, reason: str = "", *, is_known: bool) -> str:
    if is_known:
        return _("Already in Ferry")
    if reason in ("missing_files", "fetched_again"):
        return reasons.find(reason).text
    if isinstance(item, MagnetItem) and item.size_bytes:
        return _("Added, %(size)s") % {"size": size_words(item.size_bytes)}
    return _("Added")


def unconfirmed_words() -> str:
    return _("The storage service didn't confirm this, but the transfer is there.")


def unsure_words(failure: Failure) -> str:
    if failure.outcome == "unseen":
        return _(
            "The storage service didn't confirm this, and its list doesn't show it so far. "
            "Try again."
        )
    return _(
        "The storage service's response wasn't clear, so this item may be added "
        "already. Check the list before you try again."
    )


def refusal_words(failure: Failure) -> str:
    """Say why an item was refused, and what to do. Each reason in v1 has its own sentence."""
    sentence = reasons.find(failure.reason).text
    if sentence and failure.missing_bytes and isinstance(failure, NoRoom):
        missing = _("You need another %(size)s.") % {"size": size_words(failure.missing_bytes)}
        return sentences((missing, sentence))
    if sentence:
        return sentence
    if isinstance(failure, NotFound):
        return _("The destination folder no longer exists. Choose another.")
    if type(failure) is Rejected:
        return said_by(failure) or _("The storage service refused this without giving a reason.")
    return message_of(failure).words
