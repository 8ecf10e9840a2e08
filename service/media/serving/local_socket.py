"""The Unix socket at which web processes of this machine reach its worker."""

import errno
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.utils.crypto import salted_hmac

SOCKET, NEW_SOCKET, LOCK = "media.sock", "media.new", "media.lock"
# The kernel limits the length of a socket's path.
LONGEST_PATH = 100
# How many connections wait to be accepted.
BACKLOG = 64
CALL_SECONDS = 5
PEER = struct.Struct("3i")
NO_SOCKET = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


@contextmanager
def listening(folder: Path) -> Iterator[socket.socket]:
    """Listen at the socket; the caller holds the lock.

    This replaces a socket left by a killed worker. A socket gets its final name only once this
    process listens, so a client never finds one without a listener.
    """
    with socket.socket(socket.AF_UNIX) as listener, short_path(folder, NEW_SOCKET) as path:
        new = folder / NEW_SOCKET
        new.unlink(missing_ok=True)
        try:
            listener.bind(path)
        except OSError as trouble:
            if trouble.errno not in NO_SOCKET:
                raise
            # FAT and some network shares can't hold sockets; abstract sockets need no folder.
            (folder / SOCKET).unlink(missing_ok=True)
            listener.bind(name_without_folder())
            listener.listen(BACKLOG)
            yield listener
            return
        new.chmod(0o600)
        listener.listen(BACKLOG)
        new.rename(folder / SOCKET)
        try:
            yield listener
        finally:
            (folder / SOCKET).unlink(missing_ok=True)


@contextmanager
def calling(folder: Path, timeout_seconds: float) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_seconds)
        try:
            with short_path(folder, SOCKET) as path:
                connection.connect(path)
        except FileNotFoundError:
            connection.connect(name_without_folder())
            # No folder keeps other users from taking the abstract name first.
            if not is_our_own(connection):
                raise ConnectionRefusedError from None
        yield connection


def is_served(folder: Path) -> bool:
    """Return whether a worker of this machine accepts requests."""
    try:
        with calling(folder, CALL_SECONDS):
            return True
    except OSError:
        return False


def name_without_folder() -> str:
    """Return the name of an abstract socket, unique to this Ferry and impossible to guess."""
    return f"\0ferry-{salted_hmac('ferry media requests', str(settings.DATA_DIR)).hexdigest()[:16]}"


@contextmanager
def short_path(folder: Path, name: str) -> Iterator[str]:
    """Yield a socket's path, through its open folder if it is too long for the kernel."""
    path = str(folder / name)
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield path
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def is_our_own(connection: socket.socket) -> bool:
    """Check the peer's user, besides the socket's permissions."""
    facts = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, PEER.size)
    _pid, user, _group = PEER.unpack(facts)
    return user in (0, os.geteuid())
