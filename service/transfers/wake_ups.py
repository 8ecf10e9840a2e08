"""Wake idle workers when there is new work, instead of waiting for their next poll."""

import errno
import logging
import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from service.store.blobs import make_folder

log = logging.getLogger("ferry.worker")

READ_BYTES = 4096


def wake_workers() -> None:
    """Wake every worker on this machine; never wait, never fail.

    Workers on other machines see new work at their next poll.
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


@contextmanager
def listen(by: threading.Event) -> Iterator[bool]:
    """Set the event at each wake-up. Yield False if no pipe can be made here.

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
