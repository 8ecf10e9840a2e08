"""Settings that owners change on the Server screen, and that both halves of Ferry read.

What the environment says takes precedence. Every process reads the database's rows through the row
cache, so a change works at once.
"""

from typing import Any

from django.conf import settings

from common.storage import row_cache
from webui.models import OwnerSetting

DEFAULT_NAME = "Ferry"


def find(name: str) -> Any:
    """Return the value that applies now, such as that of DELETED_DAYS."""
    default = getattr(settings, name, None)
    if is_fixed(name):
        return default
    return row_cache.read("owner settings", _load).get(name, default)


def is_fixed(name: str) -> bool:
    return name in settings.FIXED_SETTINGS


def change(name: str, value: Any) -> None:
    OwnerSetting.objects.update_or_create(name=name, defaults={"value": value})


def server_name() -> str:
    return find("SERVER_NAME") or DEFAULT_NAME


def host_names() -> list[str]:
    """Return the names that owners added to those that Ferry answers to anyway."""
    return [] if is_fixed("ALLOWED_HOSTS") else find("HOST_NAMES") or []


def _load() -> dict[str, Any]:
    return dict(OwnerSetting.objects.values_list("name", "value"))
