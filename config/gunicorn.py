"""The web server's settings. Threads, since a slow reader then costs one thread and no more."""

import os
import socket
import struct
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from config import settings

bind = (
    f"[{settings.HOST}]:{settings.PORT}"
    if ":" in settings.HOST
    else (f"{settings.HOST}:{settings.PORT}")
)
worker_class = "gthread"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
timeout = 60
graceful_timeout = 4
keepalive = 15
limit_request_line = 8190
control_socket_disable = True
preload_app = False
accesslog = None
loglevel = "warning"
# config.front decides whom to believe; gunicorn by itself would believe everything on loopback.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}


def when_ready(server: Any) -> None:
    """Connections inherit the timeout: gunicorn by itself waits for the end of a head for ever."""
    seconds = struct.pack("ll", settings.STALLED_SECONDS, 0)
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, seconds)
    print(f"Ferry answers on port {settings.PORT}.", flush=True)
