"""The Server screen: what takes space, and how Ferry reaches the storage service."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from webui.activity.page import ActivityPage
from webui.health.page import HealthPage
from webui.library.addresses import folder_url
from webui.library.entries import Entry
from webui.people.pages.people import InvitationRow, PersonRow
from webui.storage_meter import Gauge
from webui.v1.connection import Health
from webui.v1.errors import (
    Failure,
    Forbidden,
    NotFound,
    Rejected,
    TooMany,
    Unauthorized,
    Unavailable,
    Unreadable,
)
from webui.words import reasons
from webui.words.failures import message_of, said_by
from webui.words.formatting import ago_words, size_words, tenths_words
from webui.words.joining import sentences

MOST_LARGEST = 6


@dataclass(frozen=True)
class LargestRow:
    """One of the largest entries of the root. `share` is its percentage of the largest entry."""

    name: str
    url: str
    size: str
    share: int


@dataclass(frozen=True)
class StoragePart:
    gauge: Gauge | None
    largest: list[LargestRow]
    is_own: bool  # the service lists the largest files of all folders, and traffic
    can_restore: bool


@dataclass(frozen=True)
class ServicePart:
    """Whether the storage service answers, without its address and credentials."""

    state: str
    detail: str
    is_well: bool
    is_unhealthy: bool


@dataclass(frozen=True)
class ConnectionPart:
    """Where files are kept, for the owner, without the credentials."""

    place: str
    text: str
    may_connect: bool
    may_forget: bool


@dataclass(frozen=True)
class ServerPage:
    """The Server screen. The parts that may be missing are for owners."""

    storage: StoragePart
    service: ServicePart
    connection: ConnectionPart | None = None
    server_name: str = ""
    addresses: Sequence[str] = ()
    people: Sequence[PersonRow] = ()
    invitations: Sequence[InvitationRow] = ()
    health: HealthPage | None = None
    activity: ActivityPage | None = None
    limits: dict[str, str] | None = None
    reachability: dict[str, object] | None = None


# What takes space


def largest_rows(entries: Sequence[Entry]) -> list[LargestRow]:
    sized = [(entry.size_bytes, entry) for entry in entries if entry.size_bytes]
    largest = sorted(sized, key=lambda each: -each[0])[:MOST_LARGEST]
    return [largest_row(entry, size_bytes, largest[0][0]) for size_bytes, entry in largest]


def largest_row(entry: Entry, size_bytes: int, most_bytes: int) -> LargestRow:
    """Describe an entry. Its bar is at least 1 percent long, so that it stays visible."""
    share = max(1, round(size_bytes * 100 / most_bytes))
    url = folder_url(entry.id) if entry.is_folder else ""
    return LargestRow(entry.name, url, size_words(size_bytes), share)


# The storage service


def service_part(health: Health, now: datetime) -> ServicePart:
    if health.last_error:
        kind = health.last_failure or Unavailable
        return unhealthy_part(kind(health.last_error), health, now)
    if health.last_ok_at is None:
        text = _("Ferry hasn't contacted the service since it started.")
        return ServicePart(_("Not checked yet"), text, is_well=False, is_unhealthy=False)
    words = {
        "time": time_words(health.latency_seconds or 0),
        "ago": ago_words(now - health.last_ok_at),
    }
    answered = _("Responded in %(time)s, %(ago)s") % words
    return ServicePart(_("Storage service"), answered, is_well=True, is_unhealthy=False)


def unhealthy_part(failure: Failure, health: Health, now: datetime) -> ServicePart:
    message = message_of(failure)
    text = message.text
    if health.last_error_at:
        age_words = _("Checked %(ago)s.") % {"ago": ago_words(now - health.last_error_at)}
        text = sentences((age_words, text))
    return ServicePart(message.title, text, is_well=False, is_unhealthy=True)


def time_words(seconds: float) -> str:
    if seconds < 1:
        return _("%(count)s ms") % {"count": max(1, round(seconds * 1000))}
    return _("%(count)s s") % {"count": tenths_words(seconds)}


# The connection


def connection_part(*, fixed_url: str, stored_url: str) -> ConnectionPart:
    """Describe the connection. `fixed_url`, from the environment, overrides `stored_url`."""
    if fixed_url:
        text = _(
            "The setting SERVICE_URL decides this. To connect another service here, "
            "remove the setting and restart Ferry."
        )
        return ConnectionPart(place_of(fixed_url), text, may_connect=False, may_forget=False)
    if stored_url:
        text = _("The files on this machine stay but are hidden.")
        return ConnectionPart(place_of(stored_url), text, may_connect=True, may_forget=True)
    text = _("Ferry's own service stores them in its data folder.")
    return ConnectionPart(_("This machine"), text, may_connect=True, may_forget=False)


def place_of(url: str) -> str:
    """Return the host and path of a URL, without a name or password."""
    parts = urlsplit(url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


def forget_page(url: str) -> dict[str, str]:
    text = _(
        "The files at %(place)s stay there. Ferry deletes the email address and "
        "password, and shows the files on this machine again."
    )
    place = {"place": place_of(url)}
    return {"title": _("Disconnect from %(place)s?") % place, "text": text % place}


def refusal_of(failure: Failure) -> str:
    """Say why a connection wasn't saved, for the person who entered it."""
    return sentences((_why(failure), _("Nothing changed.")))


def _why(failure: Failure) -> str:
    message = said_by(failure)
    if isinstance(failure, Unauthorized):
        return _("The service didn't accept this email address and password.")
    if failure.reason in ("premium_required", "bad_certificate", "too_slow"):
        return reasons.find(failure.reason).text
    if isinstance(failure, Forbidden | Rejected) or (message and isinstance(failure, Unreadable)):
        return sentences((_("The service refused this account."), message))
    if isinstance(failure, TooMany):
        return _("The service is limiting requests. Try again in a few minutes.")
    if isinstance(failure, Unreadable | NotFound):
        return _(
            "Ferry can't talk to the service at this address. Check that it's a storage service."
        )
    return _away(failure.reason)


def _away(reason: str) -> str:
    if reason == "no_connection":
        return _(
            "Nothing responds at this address. Check the address, and that the service is running."
        )
    return _("The service has a problem. Try again in a minute.")
