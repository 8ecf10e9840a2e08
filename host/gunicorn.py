"""The web server's settings. It uses threads, but slow clients don't hold any."""

import gc
import json
import os
import resource
import socket
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from gunicorn import util  # type: ignore[import-untyped]

from config import settings
from host.storage import databases, running
from host.tls import listening
from host.web.connections import is_upload

# How much of an unread body gunicorn discards.
UNREAD_BYTES = 64 * 1024

OPEN_FILES, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)

address = f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST
bind = [f"{address}:{port}" for port in (settings.PORT, listening.https_port()) if port]
worker_class = "host.web.connection_limits.SharingWorker"
workers = settings.WEB_PROCESSES
threads = settings.WEB_THREADS
# Most connections need no thread: see host.web.connection_limits. Some need a few files.
worker_connections = max(1024, min(4096, OPEN_FILES // 4))
# Each process touches a file here every second, which would keep a disk awake.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
timeout = 60
graceful_timeout = 3
keepalive = 15
limit_request_line = 8190
control_socket_disable = True
preload_app = True
accesslog = None
loglevel = "warning"
# host.web.front decides which proxies to trust; gunicorn by itself would trust all on loopback.
forwarded_allow_ips = ""
forwarder_headers = ""
secure_scheme_headers: dict[str, str] = {}

if settings.METRICS_TOKEN:
    from host.monitoring.gunicorn_hooks import (  # noqa: F401  gunicorn finds them here.
        child_exit,
        post_request,
    )


def on_starting(_server: Any) -> None:
    """Check the database, and exempt what was loaded before the fork from garbage collection.

    Those objects live as long as Ferry. A listing of 10,000 entries makes so many objects that the
    garbage collector took a quarter of the listing's time to walk them all repeatedly.
    """
    from host.storage import release  # noqa: PLC0415  Models are loaded by now.

    running.note_running()
    release.check_database()
    databases.insist()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def when_ready(_server: Any) -> None:
    print(f"Ferry answers on port {settings.PORT}.", flush=True)


def pre_request(_worker: Any, request: Any) -> None:
    """Announce that a connection with a long body will be closed.

    gunicorn discards only `UNREAD_BYTES` of a refused body, then closes a connection that it had
    promised to keep: the client's next request on that connection was lost.
    """
    request.unreader.begin_body(may_be_slow=is_upload(request.path))
    if any(is_of_long_body(name, value) for name, value in request.headers):
        request.force_close()


def is_of_long_body(name: str, value: str) -> bool:
    return name == "TRANSFER-ENCODING" or (name == "CONTENT-LENGTH" and int(value) > UNREAD_BYTES)


def write_error(connection: socket.socket, status: int, reason: str, _message: str) -> None:
    """Refuse unreadable requests in JSON, as v1 does; gunicorn's own page is HTML."""
    word = reason.lower().replace(" ", "_")
    facts = {"result": False, "success": False, "code": status, "status_code": status}
    content = json.dumps(facts | {"reason_phrase": word, "error": word})
    later = "Retry-After: 5\r\n" if status == 503 else ""
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\n{later}"
        "Cache-Control: private, no-store\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    util.write_nonblock(connection, (head + content).encode())


util.write_error = write_error
