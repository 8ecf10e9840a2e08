"""People and invitations, as an owner sees them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from django.urls import reverse
from django.utils.translation import gettext as _

from webui.people.device_addresses import DeviceAddress
from webui.words.formatting import Calendar, devices_words, role_words

ROLES = ("guest", "member", "owner")


class PersonFacts(Protocol):
    pk: int
    username: str
    role: str
    created_at: datetime


@dataclass(frozen=True)
class PersonRow:
    name: str
    note: str
    url: str


@dataclass(frozen=True)
class InvitationRow:
    id: int
    note: str
    label: str


def may_words(role: str) -> str:
    words = {
        "guest": _("Can watch and download"),
        "member": _("Can also add and delete"),
        "owner": _("Can do everything, including inviting people"),
    }
    return words[role]


def person_row(person: PersonFacts, reader: PersonFacts) -> PersonRow:
    words = may_words(person.role) if person.role != "owner" else role_words("owner")
    return PersonRow(
        person.username,
        note_words(words, is_self=person.pk == reader.pk),
        reverse("account-people-person", args=[person.pk]),
    )


def note_words(words: str, *, is_self: bool) -> str:
    return _("%(words)s (you)") % {"words": words} if is_self else words


def invitation_row(id_: int, role: str, end: datetime, calendar: Calendar) -> InvitationRow:
    words = {"role": role_words(role), "when": calendar.to_the_minute(end)}
    label = _("Revoke the invitation: %(role)s, until %(when)s") % words
    return InvitationRow(id_, _("%(role)s, until %(when)s") % words, label)


def role_choices() -> list[tuple[str, str, str]]:
    """Return each role with its name and with what it may do."""
    return [(role, role_words(role), may_words(role)) for role in ROLES]


def person_page(
    person: PersonFacts, reader: PersonFacts, devices: int, calendar: Calendar, refusal: str = ""
) -> dict[str, object]:
    since = {"role": role_words(person.role), "when": calendar.exact(person.created_at)}
    is_self = person.pk == reader.pk
    remove_text = _(
        "Ferry signs %(name)s out everywhere, and %(name)s can't sign in anymore. "
        "Files and transfers stay."
    )
    return {
        "id": person.pk,
        "name": person.username,
        "note": note_words(_("%(role)s since %(when)s") % since, is_self=is_self),
        "role": person.role,
        "roles": role_choices(),
        "signout_text": _("Signed in on %(items)s.") % {"items": devices_words(devices)},
        "remove_text": remove_text % {"name": person.username},
        "is_self": is_self,
        "refusal": refusal,
    }


def invited_page(role: str, addresses: Sequence[DeviceAddress], expires: str) -> dict[str, object]:
    text = _(
        "Anyone who opens this link joins with the role %(role)s. The link works "
        "once, until %(when)s. Copy it now, because Ferry won't show it again."
    )
    hint = _("Each of these addresses leads here. The phone must be on the same network.")
    return {
        "title": _("Invitation"),
        "text": text % {"role": role_words(role), "when": expires},
        "addresses": addresses,
        "hint": hint if len(addresses) > 1 else "",
    }
