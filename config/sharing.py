"""Several processes on one port: which of them takes a connection, and how each is left."""

import socket
import time
from typing import Any

from gunicorn import util  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

SECONDS_FOR_EACH = 0.0001
FEW = 16


class SharingWorker(ThreadWorker):  # type: ignore[misc]
    """Lets others be first that hold fewer connections.

    All processes wait for the same door, and one that is awake takes whatever comes: of two, one
    had all eight connections of a client in every other run, and a core stood idle. Where there
    are many, chance does as well, and a crowd is not kept waiting.
    """

    def accept(self, listener: socket.socket) -> None:
        time.sleep(seconds_for_others(self.nr_conns))
        super().accept(listener)

    def handle(self, conn: Any) -> Any:
        """gunicorn gives the other side two seconds to close, and meanwhile accepts nobody: ten
        who stayed kept all others waiting for twenty. Here each costs its own thread's time."""
        stays = super().handle(conn)
        if not stays:
            util.close_graceful(conn.sock)
            conn.sock = socket.socket()  # Leads nowhere: gunicorn finds nothing to wait for.
        return stays


def seconds_for_others(connections: int) -> float:
    return connections * SECONDS_FOR_EACH if connections < FEW else 0
