"""Say what a failure means, and what to do now."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.v1.errors import (
    Conflict,
    Failure,
    Forbidden,
    NoRoom,
    NotFound,
    Rejected,
    TooMany,
    Unauthorized,
    Unavailable,
    Unreadable,
)
from webui.words import reasons
from webui.words.joining import sentences


def status_words(status: int) -> tuple[str, str]:
    words = {
        400: (
            _("Ferry can't read this request"),
            _("Go back, check the address or the form, and try again."),
        ),
        403: (_("You can't open this"), _("Your account isn't allowed to see this page.")),
        404: (_("Ferry can't find this"), _("Someone may have renamed or deleted it.")),
        405: (
            _("This page can't be used this way"),
            _("Open the page again, and use its buttons."),
        ),
        413: (_("That's too large"), _("Nothing changed. Send less at once.")),
        429: (_("Too many requests"), _("Nothing changed. Wait a moment, then try again.")),
        502: (
            _("Ferry can't read the storage service's response"),
            _("This doesn't affect your files and transfers. Try again in a minute."),
        ),
        503: (
            _("Ferry is busy"),
            _("This doesn't affect your files and transfers. Try again in a minute."),
        ),
    }
    broken = (
        _("Something went wrong in Ferry"),
        _(
            "This doesn't affect your files and transfers. Try again. If this keeps "
            "happening, tell the administrator of this server, and include the reference "
            "if you see one."
        ),
    )
    return words.get(status, broken)


@dataclass(frozen=True)
class ErrorMessage:
    """A failure of the service, explained to the reader."""

    status: int
    title: str
    text: str

    @property
    def words(self) -> str:
        return sentences((_("%(title)s.") % {"title": self.title}, self.text))


def message_of(failure: Failure) -> ErrorMessage:
    status, words = next(
        entry for kind in type(failure).__mro__ if (entry := TROUBLES.get(kind)) is not None
    )
    title, text = words(failure)
    return ErrorMessage(status, title, _outcome_words(failure) or text)


def _outcome_words(failure: Failure) -> str:
    """Say what to do about a change that may have been made; "" if it wasn't."""
    if failure.outcome == "unseen":
        return _("Ferry looked, and nothing has changed so far. Try again.")
    if failure.outcome == "unknown":
        return _("Ferry doesn't know whether this was done. Check before you try again.")
    return ""


def _reason_words(word: str) -> tuple[str, str]:
    reason = reasons.find(word)
    return reason.title, str(reason.advice)


def _unavailable_words(failure: Failure) -> tuple[str, str]:
    has_words = failure.reason in ("too_slow", "bad_certificate", "disk_error")
    return _reason_words(failure.reason if has_words else "no_connection")


def _unreadable_words(failure: Failure) -> tuple[str, str]:
    if failure.reason in SENT_INSTEAD:
        return _("The storage service didn't send this file"), sent_instead_words(failure)
    if failure.reason == "dead_link":
        return _reason_words("dead_link")
    title, text = status_words(502)
    if failure.reason == "too_large":
        text = _("Its response was too large for a folder, so Ferry didn't read it.")
    return title, sentences((said_by(failure), text))


def sent_instead_words(failure: Failure) -> str:
    words = {
        "sent_page": _("It sent a web page instead, so Ferry saved nothing."),
        "sent_message": _("It sent a message for programs instead, so Ferry saved nothing."),
        "sent_nothing": _("It sent no data, so Ferry saved nothing."),
        "sent_other": _("It sent something else, so Ferry saved nothing."),
    }
    advice = _("Try again in a minute. If this keeps happening, contact the service's support.")
    return sentences((words[failure.reason], said_by(failure), advice))


def _unauthorized_words(failure: Failure) -> tuple[str, str]:
    return (
        _("The storage service rejected Ferry's sign-in"),
        _(
            "It ended the session, or the password has changed. Try again. If this keeps "
            "happening, the owner of Ferry can enter the name and password again."
        ),
    )


def _refused_words(failure: Failure) -> tuple[str, str]:
    if reasons.find(failure.reason).sentence:
        return _reason_words(failure.reason)
    return (
        _("The storage service refused this"),
        said_by(failure) or _("It gave no reason. The owner of Ferry can ask the service."),
    )


def _conflict_words(failure: Failure) -> tuple[str, str]:
    return (
        _("Someone else already changed this"),
        _("The name is taken, or this item changed in the meantime. Open the folder again."),
    )


def _too_many_words(failure: Failure) -> tuple[str, str]:
    title = _("The storage service is limiting requests")
    if failure.retry_after_seconds:
        seconds = math.ceil(failure.retry_after_seconds)
        words = ngettext(
            "Nothing changed. Try again in %(seconds)s second.",
            "Nothing changed. Try again in %(seconds)s seconds.",
            seconds,
        )
        return title, words % {"seconds": seconds}
    return title, _("Ferry sent it too many requests at once. Try again in a minute.")


def _no_room_words(failure: Failure) -> tuple[str, str]:
    if failure.reason.startswith("out_of_bandwidth"):
        return _reason_words("out_of_bandwidth_memory")
    if failure.reason.startswith("queue_full"):
        return _reason_words("queue_full")
    return (
        _("There isn't enough space for this"),
        _("The storage is full. Delete something you don't need, then try again."),
    )


def _rejected_words(failure: Failure) -> tuple[str, str]:
    if failure.reason == "disk_full":
        return _("There isn't enough space for this"), reasons.find("disk_full").text
    return _refused_words(failure)


def name_refusal(failure: Conflict | Rejected) -> str:
    """Say at the field why the service refuses a name."""
    if isinstance(failure, Conflict):
        return reasons.find("name_taken").text
    if text := reasons.find(failure.reason).text:
        return text
    if words := own_words(failure):
        return _("The storage service says: “%(words)s”") % {"words": words}
    return _("The storage service doesn't accept this name. Try another.")


def said_by(failure: Failure) -> str:
    words = own_words(failure)
    return _("It says: “%(words)s”") % {"words": words} if words else ""


def own_words(failure: Failure) -> str:
    """Return the service's own message, or else its reason code as words."""
    text = failure.message or failure.said
    return text if " " in text else text.replace("_", " ")


SENT_INSTEAD = frozenset({"sent_page", "sent_message", "sent_nothing", "sent_other"})
TROUBLES: dict[type, tuple[int, Callable[[Failure], tuple[str, str]]]] = {
    Unreadable: (502, _unreadable_words),
    Unavailable: (503, _unavailable_words),
    Unauthorized: (502, _unauthorized_words),
    Forbidden: (502, _refused_words),
    NotFound: (404, lambda _failure: status_words(404)),
    Conflict: (409, _conflict_words),
    TooMany: (503, _too_many_words),
    NoRoom: (413, _no_room_words),
    Rejected: (422, _rejected_words),
}
