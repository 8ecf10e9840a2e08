"""Cut off connections whose other end takes nothing or sends nothing."""

import socket

from django.conf import settings

QUEUED_BYTES = 128 * 1024


def cut_when_stalled(connection: socket.socket | None) -> None:
    """Cut off a reader that takes nothing, and an upload that sends nothing, which holds a thread.

    Beware: a reader takes something when the kernel reports room again. By default, the kernel
    queues megabytes and reports room once a third has been sent: steady readers of 20 KB/s were cut
    off.
    """
    if connection is not None:
        connection.settimeout(settings.STALLED_SECONDS)
        if hasattr(socket, "TCP_NOTSENT_LOWAT") and connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, QUEUED_BYTES)
