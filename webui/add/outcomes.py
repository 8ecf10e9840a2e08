"""Say what became of each item that was added."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.add.parse import Item, MagnetItem, UnreadableItem
from webui.errors.page import message_of, said_by
from webui.formatting import count_words, more_words, size_words
from webui.v1.errors import Failure, NoRoom, NotFound, Rejected

Outcome = Literal["added", "known", "refused", "no_room", "unreadable", "unsure"]

MOST_SHOWN = 100
LONGEST_SHOWN = 300
ICONS: dict[Outcome, str] = {
    "added": "circle-check",
    "known": "info",
    "refused": "circle-alert",
    "no_room": "hard-drive",
    "unreadable": "circle-alert",
    "unsure": "circle-alert",
}
TONES: dict[Outcome, str] = {
    "refused": "red",
    "no_room": "red",
    "unreadable": "amber",
    "unsure": "amber",
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
    trouble: str


def results_panel(results: Sequence[ItemResult], trouble: str = "") -> ResultsPanel:
    worth_a_row = [each for each in results if each.outcome != "added" or len(results) == 1]
    in_order = sorted(worth_a_row, key=lambda result: result.is_well)
    shown = in_order[:MOST_SHOWN]
    return ResultsPanel(
        summary=summary_words(results),
        is_well=not trouble and all(result.is_well for result in results),
        has_items=bool(results),
        has_added=any(result.outcome == "added" for result in results),
        rows=[row_of(result) for result in shown],
        more=more_words(len(in_order) - len(shown)),
        trouble=trouble,
    )


def row_of(result: ItemResult) -> ResultRow:
    return ResultRow(
        key=result.key,
        outcome=result.outcome,
        tone=TONES.get(result.outcome, ""),
        icon=ICONS[result.outcome],
        name=result.name[:LONGEST_SHOWN],
        sentence=result.sentence,
        url=result.url,
    )


def summary_words(results: Sequence[ItemResult]) -> str:
    """Return `2 transfers added, 1 already here, 3 not added`."""
    added = sum(result.outcome == "added" for result in results)
    known = sum(result.outcome == "known" for result in results)
    others = len(results) - added - known
    said = []
    if added or not results:
        words = ngettext("%(count)s transfer added", "%(count)s transfers added", added)
        said.append(words % {"count": count_words(added)})
    if known:
        said.append(_("%(count)s already here") % {"count": count_words(known)})
    if others:
        said.append(_("%(count)s not added") % {"count": count_words(others)})
    return ", ".join(said)


# Sentences


def unreadable_words(why: str) -> str:
    words = {
        "no_hash": _("This magnet link names no torrent. Copy the whole link again."),
        "other_scheme": _("Ferry takes magnet links and addresses with http or https."),
        "no_link": _("This is no magnet link and no web address."),
        "no_address": _("This web address can't be read. Copy it again."),
        "control_characters": _("This holds characters that no link may hold. Copy it again."),
        "has_password": _("Leave name and password out of the address."),
        "too_long": _("This is too long for a link."),
    }
    return words[why]


def added_words(item: Item | SentFile, reason: str = "", *, is_known: bool) -> str:
    if is_known:
        return _("Already here")
    if reason == "missing_files":
        return _("Some of its files were deleted. Ferry is fetching them again.")
    if reason == "fetched_again":
        return _("Ferry fetched this address before, and is fetching it again.")
    if isinstance(item, MagnetItem) and item.size_bytes:
        return _("Added, %(size)s") % {"size": size_words(item.size_bytes)}
    return _("Added")


def unsure_words() -> str:
    return _(
        "The storage service gave no clear answer, so Ferry could not tell whether it was added. "
        "Look in the list before you try again."
    )


def refusal_words(failure: Failure) -> str:
    """Say why an item was refused, and what to do. Each reason in v1 has its own sentence."""
    sentence = reason_words(failure.reason)
    if sentence and failure.missing_bytes and isinstance(failure, NoRoom):
        missing = _("%(size)s more are needed.") % {"size": size_words(failure.missing_bytes)}
        return f"{missing} {sentence}"
    if sentence:
        return sentence
    if isinstance(failure, NotFound):
        return _("The folder it should go to isn't there any more. Choose another.")
    if type(failure) is Rejected:
        return said_by(failure) or _("The storage service refuses this and gives no reason.")
    return message_of(failure).words


def reason_words(reason: str) -> str:
    if reason.startswith("not_enough_space"):
        return f"{_('There is no room for this.')} {wish_words(reason)}"
    if reason.startswith("queue_full"):
        return f"{_('The queue of the storage service is full.')} {wish_words(reason)}"
    if reason.startswith("private_not_allowed"):
        why = _("The storage account's plan takes no torrents of private trackers.")
        return f"{why} {wish_words(reason)}".strip()
    if reason == "added_to_wishlist":
        return wish_words(reason)
    return {
        "out_of_wishlist": _("The wishlist of the storage account is full. Remove something."),
        "out_of_bandwidth_memory": _("The storage account has used up its traffic for now."),
        "fetch_error": _("The storage service could not fetch this. Check the address."),
        "invalid_torrent": _("This is no torrent that can be read. Get it again."),
        "not_a_torrent": _("This is no torrent. This service takes nothing else."),
        "no_torrent_passed": _("The storage service got nothing it can use. Check the link."),
        "parsing_error": _("The storage service can't read this. Copy the whole link again."),
        "url_not_allowed": _("The storage service fetches nothing from this address."),
        "name_too_long": _("A name has at most 255 characters."),
        "disk_full": _("The disk of the storage service is full. Try again later."),
    }.get(reason, "")


def wish_words(reason: str) -> str:
    if reason.endswith("added_to_wishlist"):
        return _("It was kept on the wishlist.")
    if reason.endswith("wishlist_full"):
        return _("The wishlist is full too, so it was not kept.")
    return _("Delete something you don't need, then add it again.") if "space" in reason else ""
