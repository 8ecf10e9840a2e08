"""Wake workers when there is new work, instead of waiting for their next poll.

With SQLite, all workers are on this machine, and each has a named pipe. With PostgreSQL, each
listens to the database, which notifies them when a change commits.
"""

import errno
import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from django.conf import settings
from django.db import connection

from service import notifications
from service.store.folders import make_folder

log = logging.getLogger("ferry.worker")

READ_BYTES = 4096


class WakeUp(threading.Event):
    """An event that also gathers whose transfers have changed."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._account_ids: set[int] | None = None

    def note(self, account_id: int | None) -> None:
        with self._lock:
            if account_id is None:
                self._account_ids = None
            elif self._account_ids is not None:
                self._account_ids.add(account_id)
        self.set()

    def take_changes(self) -> set[int] | None:
        """Return the accounts that changed since the last call, or None if any may have."""
        with self._lock:
            account_ids, self._account_ids = self._account_ids, set()
        return account_ids


def wake_workers() -> None:
    """Wake every worker on this machine; never wait, never fail.

    The database itself wakes the workers that listen to it.
    """
    for pipe in folder().glob("*.pipe"):
        with suppress(OSError):
            wake_worker(pipe)


def wake_worker(pipe: Path) -> None:
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            # Its worker was killed.
            pipe.unlink()
        return
    try:
        os.write(descriptor, b".")
    finally:
        os.close(descriptor)


def listen(by: WakeUp) -> AbstractContextManager[bool]:
    """Set the event at each wake-up. Yield False if none can arrive."""
    return listen_to_database(by) if connection.vendor == "postgresql" else listen_to_pipe(by)


@contextmanager
def listen_to_database(by: WakeUp) -> Iterator[bool]:
    is_over = threading.Event()
    listener = threading.Thread(
        target=notifications.listen, args=(by.note, is_over), name="wake-ups"
    )
    listener.start()
    try:
        yield True
    finally:
        is_over.set()
        listener.join()


@contextmanager
def listen_to_pipe(by: WakeUp) -> Iterator[bool]:
    """Yield False if no pipe can be made here.

    Each worker has its own named pipe: of several readers of one pipe, only one would wake.
    """
    pipe = folder() / f"{secrets.token_hex(8)}.pipe"
    try:
        descriptor = make_pipe(pipe)
    except OSError as error:
        log.warning("can't create a wake-up pipe, so new work waits for the next poll: %s", error)
        yield False
        return
    is_over = threading.Event()
    reader = threading.Thread(target=read_pipe, args=(descriptor, by, is_over), name="wake-ups")
    reader.start()
    try:
        yield True
    finally:
        pipe.unlink(missing_ok=True)
        is_over.set()
        os.write(descriptor, b".")
        reader.join()
        os.close(descriptor)


def make_pipe(pipe: Path) -> int:
    """Make the pipe, and name it only once it has a reader: senders remove pipes without one."""
    make_folder(pipe.parent)
    draft = pipe.with_suffix(".new")
    os.mkfifo(draft, 0o600)
    # Open it for writing as well, or it would end with its last sender.
    descriptor = os.open(draft, os.O_RDWR | os.O_CLOEXEC)
    draft.rename(pipe)
    return descriptor


def read_pipe(descriptor: int, event: threading.Event, is_over: threading.Event) -> None:
    while not is_over.is_set():
        os.read(descriptor, READ_BYTES)
        event.set()


def folder() -> Path:
    return Path(settings.DATA_DIR) / "bells"
