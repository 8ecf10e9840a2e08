"""What every view of the Account screen shares."""

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from webui.account.forms import ChangePassword
from webui.add.screen import load_from_elsewhere
from webui.connection import connection
from webui.http.requests import Request
from webui.models import Role
from webui.shares.screen import shares_of
from webui.signin import devices
from webui.signin.page import MOST_DEVICES, devices_part
from webui.words.formatting import Calendar


def context_for(request: Request, form: ChangePassword | None = None) -> dict[str, object]:
    user, role = request.user, Role(request.user.role)
    page = {
        "name": user.username,
        "role_label": role.label,
        "languages": [("", _("Same as browser")), *settings.LANGUAGES],
        "language": user.language,
        "devices": devices_of(request),
        "has_programs": role.includes(Role.OWNER) and connection.is_embedded(),
    }
    return {
        "page": page,
        "shares": shares_of(request),
        "form": form or ChangePassword(user),
        "ways": load_from_elsewhere(request) if role.includes(Role.MEMBER) else None,
    }


def devices_of(request: Request) -> dict[str, object]:
    now, own_key = timezone.now(), request.session.session_key or ""
    own_devices = devices.of(request.user, now)
    latest = list(own_devices[:MOST_DEVICES])
    return devices_part(latest, own_devices.count(), own_key, Calendar.now(), now)
