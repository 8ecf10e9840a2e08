import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings
from django.core.wsgi import get_wsgi_application

site = get_wsgi_application()

from common.storage import database_connection  # noqa: E402
from config.embedded import service  # noqa: E402  Django is set up by now.
from host.web import front, unreadable_headers  # noqa: E402
from host.web.request_body import RequestBody  # noqa: E402
from host.web.stalled_connections import cut_when_stalled  # noqa: E402

# Load the URLs before gunicorn forks: the processes share them, and no visitor waits for them.
import_module(settings.ROOT_URLCONF)
if settings.METRICS_TOKEN:
    import_module("host.monitoring.recording").start()
service.handler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    front.identify(environ)
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
