"""Describe each event of the activity page in one sentence."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.words.formatting import Calendar, count_words, role_words

# The root folder: its name depends on the reader's language, and no other name has a slash.
ALL_FILES = "/"


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
    return ActivityPage(_("Activity"), rows, older)


def note(event: Event, calendar: Calendar) -> str:
    when = calendar.to_the_minute(event.at)
    if not event.address:
        return when
    return _("%(when)s, from %(address)s") % {"when": when, "address": event.address}


def sentence(event: Event) -> str:
    if event.kind == "failed":
        return failure(event)
    if event.kind in OF_SEVERAL:
        return of_several(event)
    if event.kind.startswith("program_"):
        return by_program(event)
    if event.kind == "file_received":
        return upload_through_link(event)
    if event.kind == "password_changed" and event.person == event.subject:
        return _("%(person)s changed their password") % {"person": event.person}
    words = {
        "person": event.person or _("A command on this machine"),
        "subject": event.subject,
        "role": role_words(event.detail) if event.detail in ROLES else event.detail,
        "new": event.detail,
    }
    return SENTENCES[event.kind]() % words


ROLES = ("guest", "member", "owner")


def failure(event: Event) -> str:
    """Describe the failed sign-ins of an hour, from one network or from many."""
    words = {"name": event.subject, "count": count_words(event.count)}
    if event.subject:
        text = ngettext(
            "%(count)s failed sign-in as %(name)s",
            "%(count)s failed sign-ins as %(name)s within an hour",
            event.count,
        )
    elif event.address:
        text = ngettext(
            "%(count)s failed sign-in with an unknown name",
            "%(count)s failed sign-ins with an unknown name within an hour",
            event.count,
        )
    else:
        text = ngettext(
            "%(count)s more failed sign-in from another address",
            "%(count)s more failed sign-ins from other addresses within an hour",
            event.count,
        )
    return text % words


def of_several(event: Event) -> str:
    others = event.count - 1
    words = {
        "person": event.person,
        "subject": event.subject,
        "others": count_words(others),
        "folder": _("All files") if event.detail == ALL_FILES else event.detail,
    }
    has_folder = event.kind in ("moved", "copied") and event.detail
    kind = f"{event.kind}_to" if has_folder else event.kind
    return OF_SEVERAL[kind](others) % words


OF_SEVERAL: dict[str, Callable[[int], str]] = {
    "moved": lambda others: (
        ngettext(
            "%(person)s moved “%(subject)s” and %(others)s more",
            "%(person)s moved “%(subject)s” and %(others)s more",
            others,
        )
        if others
        else _("%(person)s moved “%(subject)s”")
    ),
    "moved_to": lambda others: (
        ngettext(
            "%(person)s moved “%(subject)s” and %(others)s more to %(folder)s",
            "%(person)s moved “%(subject)s” and %(others)s more to %(folder)s",
            others,
        )
        if others
        else _("%(person)s moved “%(subject)s” to %(folder)s")
    ),
    "copied_to": lambda others: (
        ngettext(
            "%(person)s copied “%(subject)s” and %(others)s more to %(folder)s",
            "%(person)s copied “%(subject)s” and %(others)s more to %(folder)s",
            others,
        )
        if others
        else _("%(person)s copied “%(subject)s” to %(folder)s")
    ),
    "copied": lambda others: (
        ngettext(
            "%(person)s copied “%(subject)s” and %(others)s more",
            "%(person)s copied “%(subject)s” and %(others)s more",
            others,
        )
        if others
        else _("%(person)s copied “%(subject)s”")
    ),
    "deleted": lambda others: (
        ngettext(
            "%(person)s deleted “%(subject)s” and %(others)s more",
            "%(person)s deleted “%(subject)s” and %(others)s more",
            others,
        )
        if others
        else _("%(person)s deleted “%(subject)s”")
    ),
    "deleted_for_good": lambda others: (
        ngettext(
            "%(person)s deleted “%(subject)s” and %(others)s more for good",
            "%(person)s deleted “%(subject)s” and %(others)s more for good",
            others,
        )
        if others
        else _("%(person)s deleted “%(subject)s” for good")
    ),
    "undeleted": lambda others: (
        ngettext(
            "%(person)s restored “%(subject)s” and %(others)s more",
            "%(person)s restored “%(subject)s” and %(others)s more",
            others,
        )
        if others
        else _("%(person)s restored “%(subject)s”")
    ),
}


def by_program(event: Event) -> str:
    """Describe what another program did, or count what all programs did within an hour."""
    if event.kind == "program_failed":
        return program_failure(event)
    words = {
        "account": event.person,
        "subject": event.subject,
        "count": count_words(event.count),
    }
    if not event.person:
        text = ngettext(
            "%(count)s more deletion by another program",
            "%(count)s more deletions by other programs within an hour",
            event.count,
        )
    elif event.kind == "program_deleted":
        text = _("Another program deleted “%(subject)s” as %(account)s")
    else:
        text = _("Another program removed a transfer as %(account)s: %(subject)s")
    return text % words


def upload_through_link(event: Event) -> str:
    """Describe a file that came by a link, or how many more came within an hour."""
    if event.person:
        return _("Someone sent a file through %(person)s's link: %(subject)s") % {
            "person": event.person,
            "subject": event.subject,
        }
    text = ngettext(
        "%(count)s more file sent through a link within an hour",
        "%(count)s more files sent through links within an hour",
        event.count,
    )
    return text % {"count": count_words(event.count)}


def program_failure(event: Event) -> str:
    words = {"name": event.subject, "count": count_words(event.count)}
    if event.subject:
        text = ngettext(
            "%(count)s wrong password from another program for %(name)s",
            "%(count)s wrong passwords from other programs for %(name)s within an hour",
            event.count,
        )
    elif event.address:
        text = ngettext(
            "%(count)s wrong password from another program for an unknown account",
            "%(count)s wrong passwords from other programs for unknown accounts within an hour",
            event.count,
        )
    else:
        text = ngettext(
            "%(count)s more wrong password from a program at another address",
            "%(count)s more wrong passwords from programs at other addresses within an hour",
            event.count,
        )
    return text % words


# Functions, since the language depends on the reader.
SENTENCES = {
    "not_deleted": lambda: _("The storage service didn't delete %(subject)s"),
    "renamed": lambda: _("%(person)s renamed “%(subject)s” to “%(new)s”"),
    "move_undone": lambda: _("%(person)s undid a move or copy"),
    "unpacked": lambda: _("%(person)s unpacked “%(subject)s”"),
    "unpacking_undone": lambda: _("%(person)s canceled or undid an unpacking"),
    "signed_in": lambda: _("%(person)s signed in"),
    "paired": lambda: _("%(person)s signed in without a password"),
    "owner_made": lambda: _("%(subject)s became an owner"),
    "password_changed": lambda: _("%(person)s changed %(subject)s's password"),
    "link_offered": lambda: _("%(person)s created a pairing link"),
    "code_approved": lambda: _("%(person)s approved a device: %(subject)s"),
    "device_signed_out": lambda: _("%(person)s signed out a device: %(subject)s"),
    "others_signed_out": lambda: _("%(person)s signed out all their other devices"),
    "person_signed_out": lambda: _("%(person)s signed %(subject)s out everywhere"),
    "invited": lambda: _("%(person)s created an invitation (%(role)s)"),
    "invitation_revoked": lambda: _("%(person)s revoked an invitation"),
    "joined": lambda: _("%(person)s accepted an invitation (%(role)s)"),
    "role_changed": lambda: _("%(person)s changed %(subject)s's role to %(role)s"),
    "removed": lambda: _("%(person)s removed %(subject)s"),
    "token_made": lambda: _("%(person)s created a token: %(subject)s"),
    "token_revoked": lambda: _("%(person)s revoked a token: %(subject)s"),
    "share_made": lambda: _("%(person)s created a link: %(subject)s"),
    "share_changed": lambda: _("%(person)s changed a link: %(subject)s"),
    "share_revoked": lambda: _("%(person)s revoked a link: %(subject)s"),
    "programs_allowed": lambda: _("%(person)s created a password for other programs"),
    "programs_blocked": lambda: _("%(person)s revoked the password for other programs"),
    "connected": lambda: _("%(person)s connected Ferry to %(subject)s"),
    "disconnected": lambda: _("%(person)s disconnected Ferry from %(subject)s"),
    "space_changed": lambda: _("%(person)s changed the space for files to %(subject)s GB"),
    "deleted_days_changed": lambda: _(
        "%(person)s changed for how many days deleted items can be restored: %(subject)s"
    ),
    "server_named": lambda: _("%(person)s named this server “%(subject)s”"),
    "addresses_changed": lambda: _("%(person)s changed the names of this server: %(subject)s"),
    "transfer_removed": lambda: _("%(person)s removed a transfer: %(subject)s"),
    "link_printed": lambda: _("%(person)s created a sign-in link for %(subject)s"),
    "unlocked": lambda: _("%(person)s cleared the limits on wrong passwords"),
    "backed_up": lambda: _("%(person)s backed up Ferry to %(subject)s"),
    "restored": lambda: _("%(person)s restored Ferry from %(subject)s"),
    "database_restored": lambda: _("%(person)s restored the database from %(subject)s"),
    "files_adopted": lambda: _(
        "%(person)s put files missing from the database into a folder of %(subject)s"
    ),
    "files_discarded": lambda: _("%(person)s moved files missing from the database to the orphans"),
    "orphans_restored": lambda: _("%(person)s put orphans into a folder of %(subject)s"),
    "orphans_deleted": lambda: _("%(person)s deleted all orphans"),
    "account_changed": lambda: _("%(person)s changed the service account %(subject)s (%(role)s)"),
}
