"""What every view of the Account screen shares."""

from django.conf import settings
from django.utils import timezone

from webui.account.forms import ChangePassword
from webui.account.page import AccountPage, language_choices
from webui.add.screen import load_from_elsewhere
from webui.connection import connection
from webui.http.requests import Request
from webui.models import Role
from webui.shares.screen import shares_of
from webui.signin import devices
from webui.signin.page import MOST_DEVICES, DevicesPart, devices_part
from webui.words.formatting import Calendar


def context_for(request: Request, form: ChangePassword | None = None) -> dict[str, object]:
    role = Role(request.user.role)
    page = AccountPage(
        request.user.username,
        str(role.label),
        languages=language_choices(settings.LANGUAGES, request.user.language),
        devices=devices_of(request),
        has_programs=role.includes(Role.OWNER) and connection.is_embedded(),
    )
    return {
        "page": page,
        "shares": shares_of(request),
        "form": form or ChangePassword(request.user),
        "ways": load_from_elsewhere(request) if role.includes(Role.MEMBER) else None,
    }


def devices_of(request: Request) -> DevicesPart:
    now = timezone.now()
    own_devices = devices.of(request.user, now)
    first_devices = list(own_devices[:MOST_DEVICES])
    zone = Calendar(now, timezone.get_current_timezone())
    return devices_part(
        first_devices, own_devices.count(), request.session.session_key or "", zone, now
    )
