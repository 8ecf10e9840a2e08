"""Why a transfer waits or failed: v1's reason words, as sentences."""

import re
from collections.abc import Callable
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from webui.formatting import Calendar

NUMBER = re.compile(r"[0-9]+")
AGAIN = re.compile(r"Ferry tries again at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\.", re.ASCII)
SENTENCE_ENDS = re.compile(r"(?<=\.) ")


def sentence(word: str) -> str:
    """Return the sentence for a reason, or quote an unknown one, since nothing else is known."""
    if not word:
        return ""
    say = SENTENCES.get(word)
    return say() if say else _("the service says: %(words)s") % {"words": word.replace("_", " ")}


def detail(word: str, said: str, calendar: Calendar) -> str:
    """Return what the service's own sentences add to ours, if ours is vague."""
    if not said or (word in SENTENCES and word not in VAGUE):
        return ""
    known = [_in_our_words(each, calendar) for each in SENTENCE_ENDS.split(said)]
    return " ".join(known) if all(known) else _("the service says: %(words)s") % {"words": said}


def _in_our_words(said: str, calendar: Calendar) -> str:
    """Translate a sentence of Ferry's own service; return "" for any other."""
    if again := AGAIN.fullmatch(said):
        return _again(again[1], calendar)
    number = NUMBER.search(said)
    shape = NUMBER.sub("%(number)s", said, count=1)
    return _(shape) % {"number": number and number[0]} if shape in DETAILS else ""


def _again(moment: str, calendar: Calendar) -> str:
    """Say when Ferry tries again; "" if another service sends a date that doesn't exist."""
    try:
        at = datetime.fromisoformat(f"{moment}+00:00")
        return _("Ferry tries again at %(time)s.") % {"time": calendar.since(at)}
    except (ValueError, OverflowError):
        return ""


def note(word: str) -> str:
    """Return what is still worth knowing about a transfer that has arrived."""
    say = NOTES.get(word)
    return say() if say else ""


def _no_room_kept() -> str:
    return _("there is no room for it; it is kept on the wishlist")


def _no_room() -> str:
    return _("there is no room for it")


def _busy() -> str:
    return _("too many transfers wait already")


def _private() -> str:
    return _("the service takes no private torrents")


def _no_torrent() -> str:
    return _("it is no torrent that can be read")


def _not_fetched() -> str:
    return _("the address could not be fetched")


def _address_refused() -> str:
    return _("this address may not be fetched")


VAGUE = frozenset({"fetch_error", "disk_error", "retrying"})
# What Ferry's own service says about the vague reasons, with the first number left out.
DETAILS = frozenset(
    {
        gettext_noop("The server wants a sign-in (%(number)s)."),
        gettext_noop("The server refuses to send it (%(number)s)."),
        gettext_noop("The server has nothing there (%(number)s)."),
        gettext_noop("It is gone from the server (%(number)s)."),
        gettext_noop("The server may not send it, for legal reasons (%(number)s)."),
        gettext_noop("The server says %(number)s."),
        gettext_noop("The server fell silent."),
        gettext_noop("No server of this name was found."),
        gettext_noop("The server can't be reached."),
        gettext_noop("The connection was cut off."),
        gettext_noop("The server cut off its answer, or it is none."),
        gettext_noop("The server can't prove that it is the one meant: its certificate is bad."),
        gettext_noop("The server has something else there now."),
        gettext_noop("The server sent less than it said."),
        gettext_noop("The address leads to another more than %(number)s times."),
        gettext_noop("It begins like a torrent file, but goes on."),
        gettext_noop("It was tried %(number)s times."),
        gettext_noop("Something went wrong inside Ferry."),
        gettext_noop("What had come is not on the disk any more."),
    }
)
NOTES: dict[str, Callable[[], str]] = {
    "web_page": lambda: _("the address leads to a web page, not to a file"),
    "folder_gone": lambda: _("the folder it was meant for is gone"),
    "missing_files": lambda: _("only the files that were missing"),
    "fetched_again": lambda: _("fetched again from the same address"),
}
SENTENCES: dict[str, Callable[[], str]] = {
    "no_peers": lambda: _("waiting for one to appear"),
    "not_available": lambda: _("none of its peers has what is missing"),
    "nothing_comes": lambda: _("its peers send nothing"),
    "retrying": lambda: _("its server failed; Ferry will try again"),
    "not_enough_space": _no_room,
    "not_enough_space_added_to_wishlist": _no_room_kept,
    "not_enough_space_wishlist_full": _no_room,
    "added_to_wishlist": _no_room_kept,
    "out_of_wishlist": _no_room,
    "queue_full_added_to_wishlist": _busy,
    "queue_full_wishlist_full": _busy,
    "private_not_allowed": _private,
    "private_not_allowed_added_to_wishlist": _private,
    "private_not_allowed_wishlist_full": _private,
    "out_of_bandwidth_memory": lambda: _("the service has no bandwidth left for this account"),
    "fetch_error": _not_fetched,
    "address_refused": _address_refused,
    "url_not_allowed": _address_refused,
    **NOTES,
    "invalid_torrent": _no_torrent,
    "not_a_torrent": _no_torrent,
    "parsing_error": _no_torrent,
    "no_torrent_passed": _no_torrent,
    "too_large": lambda: _("it is larger than the service takes"),
    "disk_full": lambda: _("the disk is full; it goes on when there is space"),
    "disk_error": lambda: _("the disk could not be read or written"),
    "engine_crashed": lambda: _("the download program fails at this torrent again and again"),
    "same_torrent": lambda: _("the same torrent is fetched already"),
}
