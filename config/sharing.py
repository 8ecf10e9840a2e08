"""Several processes on one port, and which of them takes a connection."""

import socket
import time

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


def seconds_for_others(connections: int) -> float:
    return connections * SECONDS_FOR_EACH if connections < FEW else 0
