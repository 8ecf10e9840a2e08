import os
from collections.abc import Callable, Iterable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

# A reader that takes nothing for this long is cut, as is a sender that sends nothing: each holds
# a thread.
STALLED_SECONDS = 60

site = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    connection = environ.get("gunicorn.socket")
    if connection is not None:
        connection.settimeout(STALLED_SECONDS)
    mount(environ, settings.URL_PREFIX)
    return site(environ, start_response)


def mount(environ: dict[str, Any], prefix: str) -> None:
    """Puts Ferry below its prefix, whether the proxy before it cut the prefix off or not."""
    path = environ.get("PATH_INFO", "")
    if prefix and (path == prefix or path.startswith(f"{prefix}/")):
        environ["PATH_INFO"] = path[len(prefix) :] or "/"
    environ["SCRIPT_NAME"] = prefix
