"""Describe each event of the activity page in one sentence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

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
    title: str
    rows: list[ActivityRow]
    older_url: str


def activity_page(events: Iterable[Event], calendar: Calendar, before: int) -> ActivityPage:
    """`before` is the id of the last event shown if there are older ones, else 0."""
    rows = [ActivityRow(sentence(event), note(event, calendar)) for event in events]
    older = f"{reverse('account-activity')}?before={before}" if before else ""
    return ActivityPage(gettext("Activity"), rows, older)


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
    text = SENTENCES[key]
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
    "moved": _("%(person)s moved “%(subject)s”"),
    "moved_to": _("%(person)s moved “%(subject)s” to %(folder)s"),
    "copied_to": _("%(person)s copied “%(subject)s” to %(folder)s"),
    "copied": _("%(person)s copied “%(subject)s”"),
    "deleted": _("%(person)s deleted “%(subject)s”"),
    "deleted_for_good": _("%(person)s deleted “%(subject)s” for good"),
    "undeleted": _("%(person)s restored “%(subject)s”"),
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
    "program_deleted": _("Another program deleted “%(subject)s” as %(account)s"),
    "program_transfer_removed": _("Another program removed a transfer as %(account)s: %(subject)s"),
    "file_received": _("Someone sent a file through %(person)s's link: %(subject)s"),
    "own_password_changed": _("%(person)s changed their password"),
    "not_deleted": _("The storage service didn't delete %(subject)s"),
    "renamed": _("%(person)s renamed “%(subject)s” to “%(new)s”"),
    "move_undone": _("%(person)s undid a move or copy"),
    "unpacked": _("%(person)s unpacked “%(subject)s”"),
    "unpacking_undone": _("%(person)s canceled or undid an unpacking"),
    "signed_in": _("%(person)s signed in"),
    "paired": _("%(person)s signed in without a password"),
    "owner_made": _("%(subject)s became an owner"),
    "password_changed": _("%(person)s changed %(subject)s's password"),
    "link_offered": _("%(person)s created a pairing link"),
    "code_approved": _("%(person)s approved a device: %(subject)s"),
    "device_signed_out": _("%(person)s signed out a device: %(subject)s"),
    "others_signed_out": _("%(person)s signed out all their other devices"),
    "person_signed_out": _("%(person)s signed %(subject)s out everywhere"),
    "invited": _("%(person)s created an invitation (%(role)s)"),
    "invitation_revoked": _("%(person)s revoked an invitation"),
    "joined": _("%(person)s accepted an invitation (%(role)s)"),
    "role_changed": _("%(person)s changed %(subject)s's role to %(role)s"),
    "removed": _("%(person)s removed %(subject)s"),
    "token_made": _("%(person)s created a token: %(subject)s"),
    "token_revoked": _("%(person)s revoked a token: %(subject)s"),
    "share_made": _("%(person)s created a link: %(subject)s"),
    "share_changed": _("%(person)s changed a link: %(subject)s"),
    "share_revoked": _("%(person)s revoked a link: %(subject)s"),
    "programs_allowed": _("%(person)s created a password for other programs"),
    "programs_blocked": _("%(person)s revoked the password for other programs"),
    "connected": _("%(person)s connected Ferry to %(subject)s"),
    "disconnected": _("%(person)s disconnected Ferry from %(subject)s"),
    "space_changed": _("%(person)s changed the space for files to %(subject)s GB"),
    "deleted_days_changed": _(
        "%(person)s changed for how many days deleted items can be restored: %(subject)s"
    ),
    "server_named": _("%(person)s named this server “%(subject)s”"),
    "addresses_changed": _("%(person)s changed the names of this server: %(subject)s"),
    "transfer_removed": _("%(person)s removed a transfer: %(subject)s"),
    "link_printed": _("%(person)s created a sign-in link for %(subject)s"),
    "unlocked": _("%(person)s cleared the limits on wrong passwords"),
    "backed_up": _("%(person)s backed up Ferry to %(subject)s"),
    "restored": _("%(person)s restored Ferry from %(subject)s"),
    "database_restored": _("%(person)s restored the database from %(subject)s"),
    "files_adopted": _(
        "%(person)s put files missing from the database into a folder of %(subject)s"
    ),
    "files_discarded": _("%(person)s moved files missing from the database to the orphans"),
    "orphans_restored": _("%(person)s put orphans into a folder of %(subject)s"),
    "orphans_deleted": _("%(person)s deleted all orphans"),
    "account_changed": _("%(person)s changed the service account %(subject)s (%(role)s)"),
}
