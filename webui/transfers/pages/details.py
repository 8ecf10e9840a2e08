"""One transfer in detail: its pieces, peers, trackers, and what happened to it."""

from datetime import UTC, datetime
from itertools import pairwise
from operator import itemgetter

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext

from webui.transfers import states
from webui.transfers.pages.traffic import steps_path
from webui.transfers.pages.transfers import Values, has_choice
from webui.transfers.pages.words import (
    RowContext,
    clause,
    direct,
    progress_of,
    words_of,
)
from webui.transfers.states import CachedTransfer
from webui.v1.own_records import LogLine, OwnSwarm, PeerFacts, Pieces, TrackerFacts, TransferFacts
from webui.words import joining
from webui.words.formatting import (
    Calendar,
    count_words,
    duration_words,
    long_time,
    measure_words,
    more_words,
    rate_words,
    size_words,
)
from webui.words.joining import sentences
from webui.words.reasons import details_words

MOST_PEERS = 20
EVERY_MS = 2_500
# The rows in the picture of the pieces.
ARRIVED_HEIGHT, COPIES_HEIGHT = 30, 10
MOST_COPIES = 5
LEAST_SECONDS = 2

# How a transfer spent its time, by the reason of a state, or else by the state.
PERIODS = {
    "queued": gettext_lazy("Waited %(time)s for a free slot."),
    "metadata": gettext_lazy("Waited %(time)s for the list of files."),
    "downloading": gettext_lazy("Downloaded for %(time)s."),
    "moving": gettext_lazy("Moved to your files within %(time)s."),
    "stopped": gettext_lazy("Was paused for %(time)s."),
    "choose_files": gettext_lazy("Waited %(time)s for someone to choose files."),
    "no_peers": gettext_lazy("Waited %(time)s for peers."),
    "not_available": gettext_lazy("Waited %(time)s for parts that no peer had."),
    "nothing_comes": gettext_lazy("Waited %(time)s for peers that sent nothing."),
    "retrying": gettext_lazy("Waited %(time)s for its server."),
    "disk_error": gettext_lazy("Waited %(time)s for the disk."),
    "no_room": gettext_lazy("Waited %(time)s for space."),
}
TRACKER_STATES = {
    "asking": gettext_lazy("Asking"),
    "failed": gettext_lazy("Failed"),
    "waiting": gettext_lazy("Not asked yet"),
    "working": gettext_lazy("Working"),
}


def details_page(
    transfer: CachedTransfer, facts: TransferFacts, context: RowContext, *, shows_addresses: bool
) -> Values:
    """Describe a transfer. Others choose the names in `peers` and `trackers` and parts of the other
    words there, so no one may trust them."""
    swarm = facts.swarm or OwnSwarm()
    base = f"{reverse('transfers')}{transfer.key}/"
    return {
        "name": transfer.name or _("Unnamed"),
        "url": f"{base}details/",
        "choose_url": f"{base}files/" if context.may_change and has_choice(transfer) else "",
        "facts": [(label, words) for label, words in fact_words(transfer, facts, context) if words],
        "is_waiting": facts.has_swarm and facts.swarm is None,
        "pieces": pieces_picture(swarm.pieces) if swarm.pieces.count else None,
        "peer_count": count_words(swarm.peer_count) if facts.swarm else "",
        "peers": [
            peer_line(each, shows_address=shows_addresses) for each in swarm.peers[:MOST_PEERS]
        ],
        "more_peers": more_words(swarm.peer_count - MOST_PEERS),
        "trackers": [tracker_line(each, context.calendar) for each in swarm.trackers],
        "history": history_lines(transfer, facts, context.calendar),
        "every_ms": EVERY_MS if facts.has_swarm or not transfer.is_ended else 0,
    }


def fact_words(
    transfer: CachedTransfer, facts: TransferFacts, context: RowContext
) -> list[tuple[str, str]]:
    word, _tone, _icon, _facts = words_of(transfer, context)
    if transfer.state == states.DOWNLOADING and transfer.rate:
        word = joining.items([_("Downloading"), word])
    is_torrent = facts.has_swarm or facts.uploaded_bytes > 0
    ratio = facts.uploaded_bytes / transfer.size_bytes if transfer.size_bytes else 0
    whole = size_words(transfer.size_bytes) if transfer.size_bytes else ""
    availability = facts.swarm.availability if facts.swarm else -1
    return [
        (_("State"), word),
        (_("Source"), direct(transfer)),
        (_("Downloaded"), whole if transfer.state == states.DONE else progress_of(transfer)),
        (pgettext("to peers", "Uploaded"), size_words(facts.uploaded_bytes) if is_torrent else ""),
        (_("Ratio"), measure_words(round(ratio, 2)) if is_torrent and ratio else ""),
        (_("Copies within reach"), measure_words(availability) if availability > 0 else ""),
    ]


# Pieces


def pieces_picture(pieces: Pieces) -> dict[str, str]:
    """Draw how much of each part has arrived, and below it how many peers have that part."""
    arrived, copies = pieces.arrived_percents, pieces.copies
    words = ngettext(
        "%(percent)s%% of %(count)s piece has arrived.",
        "%(percent)s%% of %(count)s pieces have arrived.",
        pieces.count,
    )
    share = sum(arrived) // len(arrived)
    parts = [words % {"percent": share, "count": count_words(pieces.count)}]
    if any(not there and got < 100 for there, got in zip(copies, arrived, strict=False)):
        parts.append(_("No connected peer has some of the missing pieces."))
    shares = [min(each / MOST_COPIES, 1) for each in copies]
    return {
        "arrived": steps_path([each / 100 for each in arrived], ARRIVED_HEIGHT, ARRIVED_HEIGHT),
        "copies": steps_path(shares, ARRIVED_HEIGHT + COPIES_HEIGHT + 2, COPIES_HEIGHT),
        "text": sentences(parts),
    }


# Peers and trackers


def peer_line(peer: PeerFacts, *, shows_address: bool) -> dict[str, str]:
    ways = {"utp": _("over uTP"), "web": _("web seed")}
    progress = _("has %(percent)s%%") % {"percent": int(peer.progress_percent)}
    parts = [peer.address if shows_address else "", progress, ways.get(peer.connection, "")]
    rates = [(_("sends %(rate)s"), peer.download_rate), (_("gets %(rate)s"), peer.upload_rate)]
    return {
        "name": peer.client or _("Unknown client"),
        "text": " · ".join(filter(None, parts)),
        "end": " · ".join(words % {"rate": rate_words(rate)} for words, rate in rates if rate),
    }


def tracker_line(tracker: TrackerFacts, calendar: Calendar) -> dict[str, str]:
    again = ""
    if tracker.next_at and tracker.state != "asking":
        again = _("Next request at %(time)s.") % {"time": calendar.since(tracker.next_at)}
    return {
        "name": tracker.host,
        "text": sentences((details_words(tracker.explanation, calendar), again)),
        "end": str(TRACKER_STATES[tracker.state]),
        "tone": "amber" if tracker.state == "failed" else "",
    }


# History


def history_lines(
    transfer: CachedTransfer, facts: TransferFacts, calendar: Calendar
) -> list[tuple[str, str, str]]:
    """Return when what happened, the latest first. The state that lasts has no line yet."""
    added = LogLine(kind="queued", at=int(facts.added.timestamp()))
    changes = [added, *(each for each in facts.log if each.kind != "tracker_refused")]
    by = _("Added by %(name)s.") % {"name": transfer.by} if transfer.by else _("Added.")
    texts = [(added.at, by)]
    refusals = (each for each in facts.log if each.kind == "tracker_refused")
    texts += [(each.at, refusal_words(each, calendar)) for each in refusals]
    texts += [(each.at, period_words(each, after, transfer)) for each, after in pairwise(changes)]
    texts.append((changes[-1].at, end_words(changes[-1], calendar)))
    shown = sorted(((at, text) for at, text in texts if text), key=itemgetter(0))
    moments = [(datetime.fromtimestamp(at, UTC), text) for at, text in reversed(shown)]
    return [(calendar.since(at), calendar.iso(at), text) for at, text in moments]


def period_words(entry: LogLine, after: LogLine, transfer: CachedTransfer) -> str:
    seconds = after.at - entry.at
    words = PERIODS.get(entry.reason) or PERIODS.get(entry.kind)
    if entry.kind == "metadata" and transfer.kind in ("url", "zip"):
        words = PERIODS["retrying"] if transfer.kind == "url" else None
    if words is None or seconds < LEAST_SECONDS:
        return ""
    time = duration_words(seconds) if seconds < 60 else long_time(seconds)
    return str(words) % {"time": time}


def end_words(entry: LogLine, calendar: Calendar) -> str:
    if entry.kind == "done":
        return _("It's in your files.")
    if entry.kind != "failed":
        return ""
    words = _("Failed: %(words)s.") % {"words": clause(entry.reason)}
    return sentences((words, details_words(entry.explanation, calendar)))


def refusal_words(entry: LogLine, calendar: Calendar) -> str:
    refused = _("The tracker %(host)s refused.") % {"host": entry.tracker}
    return sentences((refused, details_words(entry.explanation, calendar)))
