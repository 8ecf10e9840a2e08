import os
import socket
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

QUEUED_BYTES = 128 * 1024

site = get_wsgi_application()

from config.embedded import service  # noqa: E402  Django is set up by now.

# Load the URLs before gunicorn forks: the processes share them, and no visitor waits for them.
import_module(settings.ROOT_URLCONF)
service.handler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    cut_when_stalled(environ.get("gunicorn.socket"))
    service.mount(environ, settings.URL_PREFIX)
    if service.is_for_service(environ["PATH_INFO"]):
        service.fold_slashes(environ)
        return service.handler()(environ, start_response)
    return site(environ, start_response)


def cut_when_stalled(connection: socket.socket | None) -> None:
    """Cut off a reader that takes nothing and a sender that sends nothing: each holds a thread.

    Beware: the timeout ends when the kernel reports room again. By default, the kernel queues
    megabytes and reports room once a third has been sent: steady readers of 20 KB/s were cut off.
    """
    if connection is not None:
        connection.settimeout(settings.STALLED_SECONDS)
        if hasattr(socket, "TCP_NOTSENT_LOWAT") and connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, QUEUED_BYTES)
