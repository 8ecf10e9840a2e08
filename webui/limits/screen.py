"""What the views of limits share, those of one transfer included."""

from contextlib import suppress

from webui.forms import FixedSetting
from webui.http.requests import Request, service_of
from webui.limits.forms import MEGABYTE, AllLimitsForm, OwnLimitsForm
from webui.limits.page import speed_state, value_words
from webui.models import Role
from webui.v1.errors import Failure, Rejected
from webui.v1.own_records import Limits, OwnLimits
from webui.words import reasons
from webui.words.formatting import Calendar

# Which setting of the environment decides each field if it is there.
SETTINGS = {
    "download_bytes_per_second": "DOWNLOAD_LIMIT",
    "upload_bytes_per_second": "UPLOAD_LIMIT",
    "active_transfers": "ACTIVE_TRANSFERS",
    "seed_ratio": "SEED_RATIO",
    "seed_minutes": "SEED_MINUTES",
}


def speed_context(request: Request) -> dict[str, object]:
    """Return which speeds apply, and whether this person may switch; nothing if the service is
    foreign or away."""
    service = service_of(request)
    if not service.is_embedded:
        return {}
    with suppress(Failure):
        limits = service.v1.limits()
        is_owner = Role(request.user.role).includes(Role.OWNER)
        return {
            "speed": speed_state(limits, Calendar.now()),
            "may_switch": is_owner and limits.may_change,
        }
    return {}


def add_refusal(form: OwnLimitsForm, failure: Rejected) -> None:
    """Show why the service refuses a value, at its field if the reason names one."""
    named = (name for name in form.fields if failure.reason.startswith(f"{name}_"))
    form.add_error(next(named, None), reasons.find(failure.reason).text or str(failure))


def initial_of(limits: Limits | OwnLimits, form: type[OwnLimitsForm]) -> dict[str, float | None]:
    """Return the values with which a form begins: speeds in MB/s, and none where none is set."""
    names = form.base_fields
    values = {name: getattr(limits, name) for name in names}
    return {
        name: value / MEGABYTE if value and name.endswith("bytes_per_second") else value
        for name, value in values.items()
        if value or not name.endswith("bytes_per_second")
    }


def fixed_rows(form: AllLimitsForm, limits: Limits) -> list[FixedSetting]:
    rows = (
        form.describe_fixed(name, setting, value_words(name, getattr(limits, name)))
        for name, setting in SETTINGS.items()
    )
    return [row for row in rows if row]
