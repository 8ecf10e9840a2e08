import os
import socket
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]

site = get_wsgi_application()

from common.storage import database_connection  # noqa: E402
from config.embedded import service  # noqa: E402  Django is set up by now.
from host.web import front, unreadable_headers  # noqa: E402
from service.http.refusals import BodyMalformed  # noqa: E402

QUEUED_BYTES = 128 * 1024

# Load the URLs before gunicorn forks: the processes share them, and no visitor waits for them.
import_module(settings.ROOT_URLCONF)
if settings.METRICS_TOKEN:
    import_module("host.monitoring.recording").start()
service.handler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    front.believe_proxy(environ)
    unreadable_headers.drop(environ)
    cut_when_stalled(environ.get("gunicorn.socket"))
    service.mount(environ, settings.URL_PREFIX)
    environ["wsgi.input"] = RequestBody(environ["wsgi.input"])
    try:
        if service.is_for_service(environ["PATH_INFO"]):
            service.fold_slashes(environ)
            return service.handler()(environ, start_response)
        return site(environ, start_response)
    finally:
        # The response is yet to be sent, however slowly.
        database_connection.give_back()


def cut_when_stalled(connection: socket.socket | None) -> None:
    """Cut off clients that stop reading, and uploads that stop sending, since both hold a thread.

    Beware: we notice that a client reads only when the kernel reports room again. By default, the
    kernel queues megabytes and reports room once a third has been sent, so steady readers of
    20 KB/s were cut off.
    """
    if connection is not None:
        connection.settimeout(settings.STALLED_SECONDS)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, QUEUED_BYTES)


class RequestBody:
    """The body of a request, which holds no database connection while it arrives.

    It raises the service's error if it breaks the rules of HTTP.
    """

    def __init__(self, source: Any) -> None:
        self._source = source

    def read(self, *size: int) -> bytes:
        database_connection.give_back()
        try:
            return cast("bytes", self._source.read(*size))
        except ParseException as malformed:
            raise BodyMalformed from malformed

    def readline(self, *size: int) -> bytes:
        database_connection.give_back()
        return cast("bytes", self._source.readline(*size))
