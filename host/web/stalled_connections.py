"""Cut off connections whose client has stopped reading or sending."""

import socket

from django.conf import settings

QUEUED_BYTES = 128 * 1024


def cut_when_stalled(connection: socket.socket | None) -> None:
    """Cut off clients that stop reading, and uploads that stop sending, since both hold a thread.

    Beware: we notice that a client reads only when the kernel reports room again. By default, the
    kernel queues megabytes and reports room once a third has been sent, so steady readers of
    20 KB/s were cut off.
    """
    if connection is not None:
        connection.settimeout(settings.STALLED_SECONDS)
        if hasattr(socket, "TCP_NOTSENT_LOWAT") and connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, QUEUED_BYTES)
