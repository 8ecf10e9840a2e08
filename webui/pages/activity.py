"""What happened in Ferry, one sentence for each event."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.pages.measures import Calendar, count_words
from webui.pages.people import role_words


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
class Row:
    text: str
    note: str


@dataclass(frozen=True)
class ActivityPage:
    title: str
    rows: list[Row]
    older_url: str


def activity_page(events: Iterable[Event], calendar: Calendar, before: int) -> ActivityPage:
    """`before` names the oldest event of a page that others follow; 0 if none do."""
    rows = [Row(sentence(event), note(event, calendar)) for event in events]
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
    if event.kind == "deleted":
        return deletion(event)
    words = {
        "person": event.person or _("A command on this machine"),
        "subject": event.subject,
        "role": role_words(event.detail) if event.detail in ROLES else event.detail,
    }
    return SENTENCES[event.kind]() % words


ROLES = ("guest", "member", "owner")


def failure(event: Event) -> str:
    """Those of an hour together, from one network or from many."""
    words = {"name": event.subject, "count": count_words(event.count)}
    if event.subject:
        text = ngettext(
            "%(count)s failed sign-in as %(name)s",
            "%(count)s failed sign-ins as %(name)s, within an hour",
            event.count,
        )
    elif event.address:
        text = ngettext(
            "%(count)s failed sign-in with an unknown name",
            "%(count)s failed sign-ins with an unknown name, within an hour",
            event.count,
        )
    else:
        text = ngettext(
            "%(count)s more failed sign-in from another address",
            "%(count)s more failed sign-ins from other addresses, within an hour",
            event.count,
        )
    return text % words


def deletion(event: Event) -> str:
    words = {"person": event.person, "subject": event.subject, "count": count_words(event.count)}
    if event.count == 1:
        return _("%(person)s deleted “%(subject)s”") % words
    others = ngettext(
        "%(person)s deleted “%(subject)s” and %(others)s more",
        "%(person)s deleted “%(subject)s” and %(others)s more",
        event.count - 1,
    )
    return others % {**words, "others": count_words(event.count - 1)}


# Functions, since the language is the reader's.
SENTENCES = {
    "signed_in": lambda: _("%(person)s signed in"),
    "paired": lambda: _("%(person)s signed in without a password, by pairing"),
    "owner_made": lambda: _("%(subject)s became an owner"),
    "password_changed": lambda: _("%(person)s changed the password of %(subject)s"),
    "link_offered": lambda: _("%(person)s showed a pairing link"),
    "code_approved": lambda: _("%(person)s approved a device: %(subject)s"),
    "device_signed_out": lambda: _("%(person)s signed out a device: %(subject)s"),
    "others_signed_out": lambda: _("%(person)s signed out all their other devices"),
    "person_signed_out": lambda: _("%(person)s signed out %(subject)s everywhere"),
    "invited": lambda: _("%(person)s invited someone as %(role)s"),
    "invitation_revoked": lambda: _("%(person)s took back an invitation"),
    "joined": lambda: _("%(person)s joined as %(role)s"),
    "role_changed": lambda: _("%(person)s changed the role of %(subject)s to %(role)s"),
    "removed": lambda: _("%(person)s removed %(subject)s"),
    "token_made": lambda: _("%(person)s made a token: %(subject)s"),
    "token_revoked": lambda: _("%(person)s revoked a token: %(subject)s"),
    "share_made": lambda: _("%(person)s made a link for players: %(subject)s"),
    "share_revoked": lambda: _("%(person)s took back a link for players: %(subject)s"),
    "programs_allowed": lambda: _("%(person)s made a password for other programs"),
    "programs_blocked": lambda: _("%(person)s took away the password for other programs"),
    "connected": lambda: _("%(person)s connected another service: %(subject)s"),
    "disconnected": lambda: _("%(person)s forgot the connection to %(subject)s"),
    "transfer_removed": lambda: _("%(person)s removed a transfer: %(subject)s"),
    "account_changed": lambda: _("%(person)s changed the service account %(subject)s: %(role)s"),
}
