"""Why a transfer waits or failed: v1's reason words, as sentences."""

import re
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from webui.formatting import Calendar
from webui.reasons import NOTES, find

NUMBER = re.compile(r"[0-9]+")
AGAIN = re.compile(r"Ferry tries again at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\.", re.ASCII)
SENTENCE_ENDS = re.compile(r"(?<=\.) ")


def clause(word: str) -> str:
    """Return an unknown word as it came, since that is all there is."""
    if not word:
        return ""
    if found := find(word).clause:
        return str(found)
    return _("the service says: %(words)s") % {"words": word.replace("_", " ")}


def note(word: str) -> str:
    """Return what stays worth knowing of a transfer that arrived."""
    return str(NOTES[word].clause) if word in NOTES else ""


def detail(word: str, said: str, calendar: Calendar) -> str:
    """Return what the service's own sentences add to ours, if ours is vague."""
    if not said or (find(word).clause and word not in VAGUE):
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
