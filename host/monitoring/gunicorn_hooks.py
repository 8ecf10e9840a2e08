"""Record connections in gunicorn's hooks."""

import socket
import struct
from typing import Any
from weakref import WeakKeyDictionary

from prometheus_client.multiprocess import mark_process_dead

from host.monitoring import metrics


def child_exit(_server: Any, worker: Any) -> None:
    mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def post_request(worker: Any, _request: Any, environ: dict[str, Any], _response: Any) -> None:
    metrics.CONNECTIONS.set(worker.nr_conns)
    metrics.WAITING.set(worker.waiting)
    if connection := environ.get("gunicorn.socket"):
        count_traffic(connection)


# Offsets in Linux's `struct tcp_info` of bytes received, not yet sent, sent, and sent again.
TCP_COUNTERS = struct.Struct("128xQ8xI52x2Q")
_counted: WeakKeyDictionary[socket.socket, tuple[int, int]] = WeakKeyDictionary()


def count_traffic(connection: socket.socket) -> None:
    """Add what a connection has carried since it was last counted.

    The kernel counts exactly, also files that it sends itself and clients that leave halfway.
    """
    try:
        facts = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_COUNTERS.size)
        received, unsent, sent_in_all, sent_again = TCP_COUNTERS.unpack(facts)
    except (OSError, struct.error):
        return  # It isn't TCP, the client has left, or the system isn't Linux.
    sent = sent_in_all - sent_again + unsent
    sent_before, received_before = _counted.get(connection, (0, 0))
    _counted[connection] = sent, received
    metrics.SENT_BYTES.inc(max(0, sent - sent_before))
    metrics.RECEIVED_BYTES.inc(max(0, received - received_before))
