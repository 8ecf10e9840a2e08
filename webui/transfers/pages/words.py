"""What the row of a transfer says: its state, why it waits or failed, and how far it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.transfers import states
from webui.transfers.states import RETRYING, CachedTransfer
from webui.v1.records import DOWNLOADED_PERCENT
from webui.words import formatting
from webui.words.failures import ErrorMessage
from webui.words.formatting import Calendar
from webui.words.reasons import NOTES, details_words, find

NO_PEERS = "no_peers"

StateWords = tuple[str, str, str, Sequence[str]]  # state, tone, icon, facts


@dataclass(frozen=True)
class RowContext:
    calendar: Calendar
    may_change: bool = False
    is_own: bool = False  # Ferry's own service, which keeps the space of what is paused
    free_bytes: int | None = None
    away: ErrorMessage | None = None


def words_of(transfer: CachedTransfer, context: RowContext) -> StateWords:
    return WORDS.get(transfer.state, queued_words)(transfer, context)


def queued_words(transfer: CachedTransfer, _around: RowContext) -> StateWords:
    facts = [_("waiting for a free slot"), whole(transfer), note(transfer.reason)]
    return _("Queued"), "", "clock", facts


def fetching_words(transfer: CachedTransfer, _around: RowContext) -> StateWords:
    asking = ngettext(
        "asking %(count)s peer for the file list",
        "asking %(count)s peers for the file list",
        transfer.peers,
    )
    words = asking % {"count": transfer.peers} if transfer.peers else _("looking for peers")
    if transfer.kind == "url":
        words = direct(transfer)
    if transfer.kind == "zip":
        words = _("reading the ZIP file")
    word = _("Getting the list of files") if transfer.chooses else _("Fetching details")
    return word, "", "", [words, note(transfer.reason)]


def downloading_words(transfer: CachedTransfer, _around: RowContext) -> StateWords:
    word = _("Unpacking") if transfer.kind == "zip" else _("Downloading")
    if transfer.rate:
        word = formatting.rate_words(transfer.rate)
    left = transfer.left_seconds
    left_words = "" if left is None else _("%(time)s left") % {"time": formatting.short_time(left)}
    facts = [left_words, progress_of(transfer), direct(transfer) or peers(transfer)]
    return word, "", "", [*facts, note(transfer.reason)]


def stalled_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    quiet, why = transfer.quiet_minutes, transfer.reason or NO_PEERS
    has_peers = bool(transfer.peers) or transfer.kind in ("url", "zip") or why != NO_PEERS
    if quiet:
        words = _("No progress for %(time)s") if has_peers else _("No peers for %(time)s")
        word = words % {"time": formatting.long_time(quiet * 60)}
    else:
        word = _("No progress") if has_peers else _("No peers")
    waiting = "" if has_peers and why == NO_PEERS else clause(why)
    if why == RETRYING:
        waiting = detail(transfer, context.calendar) or waiting
    facts = [waiting, progress_of(transfer), direct(transfer) or peers(transfer)]
    return word, "amber", "unplug", facts


def moving_words(transfer: CachedTransfer, _around: RowContext) -> StateWords:
    took = ""
    if transfer.added_at and transfer.downloaded_at and transfer.kind != "zip":
        seconds = int(max(transfer.downloaded_at - transfer.added_at, 1))
        took = _("downloaded in %(time)s") % {"time": formatting.long_time(seconds)}
    facts = [moved_part(transfer.percent), whole(transfer), took]
    return _("Moving to your files"), "sea", "loader-circle", facts


def moved_part(percent: float) -> str:
    """Say how much has been moved, which a service may report as 100 to 101 percent."""
    share = int((percent - DOWNLOADED_PERCENT) * 100)
    return _("%(percent)s%% moved") % {"percent": share} if 0 < share < 100 else ""


def no_room_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    needed = max(transfer.size_bytes - transfer.done_bytes, 0)
    short = needed - context.free_bytes if context.free_bytes is not None else 0
    facts = [clause(transfer.reason), progress_of(transfer)]
    if short > 0:
        facts.insert(0, _("needs another %(size)s") % {"size": formatting.size_words(short)})
    return _("Not enough space"), "amber", "circle-alert", facts


def paused_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    if transfer.awaits_choice:
        return _("Waiting for your choice"), "", "list-checks", [whole(transfer)]
    space = _("keeps %(size)s of space reserved") % {"size": whole(transfer)}
    # One that waited for space has a reason, and has none reserved.
    has_space = context.is_own and transfer.size_bytes and not transfer.reason
    facts = [clause(transfer.reason), progress_of(transfer), space if has_space else ""]
    return _("Paused"), "", "pause", facts


def done_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    place = transfer.place
    word = _("In %(folder)s") % {"folder": place} if place else _("In your files")
    facts = [note(transfer.reason), whole(transfer), end_time(transfer, context)]
    return word, "sea", "circle-check", facts


def failed_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    words = clause(transfer.reason) or _("the storage service didn't give a reason")
    said = detail(transfer, context.calendar)
    return _("Failed"), "red", "circle-alert", [words, said, end_time(transfer, context)]


def gone_words(transfer: CachedTransfer, context: RowContext) -> StateWords:
    words = _("the storage service no longer has it")
    return _("Missing"), "red", "circle-alert", [words, end_time(transfer, context)]


WORDS = {
    states.QUEUED: queued_words,
    states.METADATA: fetching_words,
    states.DOWNLOADING: downloading_words,
    states.STALLED: stalled_words,
    states.MOVING: moving_words,
    states.NO_ROOM: no_room_words,
    states.STOPPED: paused_words,
    states.DONE: done_words,
    states.FAILED: failed_words,
    states.GONE: gone_words,
}


def whole(transfer: CachedTransfer) -> str:
    return formatting.size_words(transfer.size_bytes) if transfer.size_bytes else ""


def progress_of(transfer: CachedTransfer) -> str:
    if not transfer.size_bytes:
        return ""
    return formatting.progress_words(transfer.done_bytes, transfer.size_bytes)


def peers(transfer: CachedTransfer) -> str:
    if not transfer.peers or transfer.kind == "zip":
        return ""
    words = ngettext("%(count)s peer", "%(count)s peers", transfer.peers)
    return words % {"count": formatting.count_words(transfer.peers)}


def direct(transfer: CachedTransfer) -> str:
    return _("direct from %(host)s") % {"host": transfer.host} if transfer.host else ""


def end_time(transfer: CachedTransfer, context: RowContext) -> str:
    return context.calendar.moment(transfer.ended_at) if transfer.ended_at else ""


def origin(transfer: CachedTransfer, calendar: Calendar) -> str:
    at = calendar.moment(transfer.added_at or transfer.since)
    if transfer.by:
        return _("Added %(time)s by %(name)s") % {"time": at, "name": transfer.by}
    if transfer.row:
        return _("Added %(time)s") % {"time": at}
    return _("First seen %(time)s, added by another program") % {"time": at}


# Reasons


def clause(word: str) -> str:
    """Return the clause for a word, or an unknown word unchanged, for lack of anything better."""
    if not word:
        return ""
    if clause := find(word).clause:
        return str(clause)
    return _("the service says: %(words)s") % {"words": word.replace("_", " ")}


def note(word: str) -> str:
    """Return a notice that still matters once a transfer has arrived."""
    return str(NOTES[word].clause) if word in NOTES else ""


def detail(transfer: CachedTransfer, calendar: Calendar) -> str:
    """Return what the service adds to our clause: details, or else its own sentence."""
    if words := details_words(transfer.details, calendar):
        return words
    if not transfer.said or (find(transfer.reason).clause and transfer.reason not in VAGUE):
        return ""
    return _("the service says: %(words)s") % {"words": transfer.said}


VAGUE = frozenset({"fetch_error", "disk_error", "retrying"})
