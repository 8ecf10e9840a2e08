"""Describe each event of the activity page in one sentence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from webui.activity.kinds import Kind
from webui.words.formatting import Calendar, count_words, role_words

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

# The root folder: its name depends on the reader's language, and no other name has a slash.
ALL_FILES = "/"
ROLES = ("guest", "member", "owner")


class Event(Protocol):
    pk: int
    at: datetime
    kind: str
    person: str
    subject: str
    detail: str
    address: str
    count: int


@dataclass(frozen=True)
class ActivityRow:
    text: str
    note: str


@dataclass(frozen=True)
class ActivityPage:
    rows: list[ActivityRow]
    older_url: str


def activity_page(events: Iterable[Event], calendar: Calendar, before: int) -> ActivityPage:
    """`before` is the id of the last event shown if there are older ones, else 0."""
    rows = [ActivityRow(sentence(event), note(event, calendar)) for event in events]
    older = f"{reverse('account-activity')}?before={before}" if before else ""
    return ActivityPage(rows, older)


def note(event: Event, calendar: Calendar) -> str:
    when = calendar.to_the_minute(event.at)
    if not event.address:
        return when
    return _("%(when)s, from %(address)s") % {"when": when, "address": event.address}


def sentence(event: Event) -> str:
    key, others = key_of(event), event.count - 1
    words = {
        "person": event.person or gettext("A command on this machine"),
        "account": event.person,
        "subject": event.subject,
        "name": event.subject,
        "new": event.detail,
        "role": role_words(event.detail) if event.detail in ROLES else event.detail,
        "folder": gettext("All files") if event.detail == ALL_FILES else event.detail,
        "count": count_words(event.count),
        "others": count_words(others),
    }
    if others and key in AND_OTHERS:
        return AND_OTHERS[key](others) % words
    text = SENTENCES.get(key) or Kind(event.kind).label
    return (text(event.count) if callable(text) else text) % words


def key_of(event: Event) -> str:
    """Return the key of the event's sentence. Rows that count what strangers and programs did
    within an hour name no person."""
    match event.kind:
        case "moved" | "copied" if event.detail:
            return f"{event.kind}_to"
        case "failed" | "program_failed" if not event.subject:
            return f"{event.kind}_unnamed" if event.address else f"{event.kind}_elsewhere"
        case "program_deleted" | "program_transfer_removed" if not event.person:
            return "program_deleted_more"
        case "file_received" if not event.person:
            return "file_received_more"
        case "password_changed" if event.person == event.subject:
            return "own_password_changed"
    return event.kind


# Functions and lazy strings, since the language depends on the reader. A lazy plural isn't safe
# between threads.
AND_OTHERS: dict[str, Callable[[int], str]] = {
    "moved": lambda number: ngettext(
        "%(person)s moved “%(subject)s” and %(others)s more",
        "%(person)s moved “%(subject)s” and %(others)s more",
        number,
    ),
    "moved_to": lambda number: ngettext(
        "%(person)s moved “%(subject)s” and %(others)s more to %(folder)s",
        "%(person)s moved “%(subject)s” and %(others)s more to %(folder)s",
        number,
    ),
    "copied_to": lambda number: ngettext(
        "%(person)s copied “%(subject)s” and %(others)s more to %(folder)s",
        "%(person)s copied “%(subject)s” and %(others)s more to %(folder)s",
        number,
    ),
    "copied": lambda number: ngettext(
        "%(person)s copied “%(subject)s” and %(others)s more",
        "%(person)s copied “%(subject)s” and %(others)s more",
        number,
    ),
    "renamed": lambda number: ngettext(
        "%(person)s renamed “%(subject)s” and %(others)s more",
        "%(person)s renamed “%(subject)s” and %(others)s more",
        number,
    ),
    "deleted": lambda number: ngettext(
        "%(person)s deleted “%(subject)s” and %(others)s more",
        "%(person)s deleted “%(subject)s” and %(others)s more",
        number,
    ),
    "deleted_for_good": lambda number: ngettext(
        "%(person)s deleted “%(subject)s” and %(others)s more for good",
        "%(person)s deleted “%(subject)s” and %(others)s more for good",
        number,
    ),
    "undeleted": lambda number: ngettext(
        "%(person)s restored “%(subject)s” and %(others)s more",
        "%(person)s restored “%(subject)s” and %(others)s more",
        number,
    ),
}
SENTENCES: "dict[str, Callable[[int], str] | StrPromise]" = {
    "moved_to": _("%(person)s moved “%(subject)s” to %(folder)s"),
    "copied_to": _("%(person)s copied “%(subject)s” to %(folder)s"),
    "failed": lambda number: ngettext(
        "%(count)s failed sign-in as %(name)s",
        "%(count)s failed sign-ins as %(name)s within an hour",
        number,
    ),
    "failed_unnamed": lambda number: ngettext(
        "%(count)s failed sign-in with an unknown name",
        "%(count)s failed sign-ins with an unknown name within an hour",
        number,
    ),
    "failed_elsewhere": lambda number: ngettext(
        "%(count)s more failed sign-in from another address",
        "%(count)s more failed sign-ins from other addresses within an hour",
        number,
    ),
    "program_failed": lambda number: ngettext(
        "%(count)s wrong password from another program for %(name)s",
        "%(count)s wrong passwords from other programs for %(name)s within an hour",
        number,
    ),
    "program_failed_unnamed": lambda number: ngettext(
        "%(count)s wrong password from another program for an unknown account",
        "%(count)s wrong passwords from other programs for unknown accounts within an hour",
        number,
    ),
    "program_failed_elsewhere": lambda number: ngettext(
        "%(count)s more wrong password from a program at another address",
        "%(count)s more wrong passwords from programs at other addresses within an hour",
        number,
    ),
    "program_deleted_more": lambda number: ngettext(
        "%(count)s more deletion by another program",
        "%(count)s more deletions by other programs within an hour",
        number,
    ),
    "file_received_more": lambda number: ngettext(
        "%(count)s more file sent through a link within an hour",
        "%(count)s more files sent through links within an hour",
        number,
    ),
    "files_chosen": lambda number: ngettext(
        "%(person)s chose %(count)s file of “%(subject)s”",
        "%(person)s chose %(count)s files of “%(subject)s”",
        number,
    ),
    "own_password_changed": _("%(person)s changed their password"),
}
