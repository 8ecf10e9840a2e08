"""The words of the Notifications screen."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from django.utils.translation import gettext as _

from webui.signin.page import name_and_icon
from webui.words.joining import items


class Addressee(Protocol):
    pk: int
    kind: str
    host: str
    topics: str
    trouble: str


@dataclass(frozen=True)
class Row:
    id: int
    icon: str
    name: str
    note: str
    trouble: str


def row_of(addressee: Addressee, agent: str, *, is_this: bool) -> Row:
    if addressee.kind == "device":
        name, icon = name_and_icon(agent)
        name = _("This device") if is_this else name
    else:
        name, icon = dict(kinds())[addressee.kind], "link"
        name = f"{name} ({addressee.host})" if addressee.host else name
    labels = topic_words()
    note = items([labels[each] for each in addressee.topics.split()]) or _("Nothing")
    return Row(addressee.pk, icon, name, note, trouble_words(addressee.trouble))


def kinds() -> list[tuple[str, str]]:
    return [
        ("feed", _("Private feed (Atom)")),
        ("ntfy", "ntfy"),
        ("webhook", _("Webhook, signed")),
        ("apprise", _("Apprise API")),
    ]


def topic_words() -> dict[str, str]:
    return {
        "done": _("Your transfers that are done"),
        "failed": _("Your transfers that failed"),
        "space": _("Space is running out"),
        "device": _("A new device signed in"),
    }


def choices(topics: Iterable[str], chosen: Collection[str]) -> list[tuple[str, str, bool]]:
    """Return the value, the label, and the state of each checkbox."""
    labels = topic_words()
    return [(each, labels[each], each in chosen) for each in topics]


def trouble_words(trouble: str) -> str:
    match trouble:
        case "":
            return ""
        case "refused":
            return _("The server refused the last notification. Remove this, and add it again.")
        case "busy":
            return _("The server is busy. Ferry will try again.")
        case _unreachable:
            return _("Ferry can't reach the server. It will try again.")


def refusal_words(word: str, most: int) -> str:
    if word == "too_many":
        return _("You already have %(count)s. Remove one that you don't need.") % {"count": most}
    return _(
        "Ferry can't send to this address. It must be public and begin with https:// or http://. "
        "The administrator can allow hosts of your own network."
    )
