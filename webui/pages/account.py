from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from webui.pages.errors import trouble_of
from webui.pages.measures import Calendar
from webui.v1.errors import Unavailable


@dataclass(frozen=True)
class ServicePart:
    """Where files are kept, and whether it answers; nothing of how it is signed in to."""

    place: str
    is_well: bool
    state: str
    last_ok: str
    latency: str


@dataclass(frozen=True)
class AccountPage:
    name: str
    role_label: str
    service: ServicePart | None = None


def service_part(  # noqa: PLR0913  What is known of the last calls.
    url: str,
    *,
    is_embedded: bool,
    last_ok_at: datetime | None,
    last_error: str | None,
    latency_seconds: float | None,
    calendar: Calendar,
) -> ServicePart:
    state = _("Connected") if last_ok_at else _("Not asked yet")
    if last_error:
        state = trouble_of(Unavailable(last_error)).title
    return ServicePart(
        place=_("In Ferry itself") if is_embedded else urlsplit(url).hostname or "",
        is_well=last_error is None,
        state=state,
        last_ok=calendar.since(last_ok_at) if last_ok_at else "",
        latency=_("%(count)s ms") % {"count": round(latency_seconds * 1000)}
        if latency_seconds is not None
        else "",
    )
