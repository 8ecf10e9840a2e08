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

RINGS_AT_ONCE = 4096


def ring() -> None:
    """Never waits and never fails: on another machine, a worker that can't hear it has its beat."""
    for bell in folder().glob("*.bell"):
        with suppress(OSError):
            ring_one(bell)


def ring_one(bell: Path) -> None:
    try:
        descriptor = os.open(bell, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as silence:
        if silence.errno == errno.ENXIO:
            # Its worker was killed.
            bell.unlink()
        return
    try:
        os.write(descriptor, b".")
    finally:
        os.close(descriptor)


@contextmanager
def heard(by: threading.Event) -> Iterator[bool]:
    """A pipe with a name for each worker, since of several that read one pipe only one hears.
    False where none can be made."""
    bell = folder() / f"{secrets.token_hex(8)}.bell"
    try:
        descriptor = hung(bell)
    except OSError as trouble:
        log.warning("no bell can be hung, so what is wanted is seen a beat later: %s", trouble)
        yield False
        return
    is_over = threading.Event()
    listening = threading.Thread(target=listen, args=(descriptor, by, is_over), name="bell")
    listening.start()
    try:
        yield True
    finally:
        bell.unlink(missing_ok=True)
        is_over.set()
        os.write(descriptor, b".")
        listening.join()
        os.close(descriptor)


def hung(bell: Path) -> int:
    """It has its name only when somebody listens, for a silent one is taken down."""
    make_folder(bell.parent)
    draft = bell.with_suffix(".new")
    os.mkfifo(draft, 0o600)
    # To write as well: else it would end whenever the last who rang is gone.
    descriptor = os.open(draft, os.O_RDWR | os.O_CLOEXEC)
    draft.rename(bell)
    return descriptor


def listen(descriptor: int, event: threading.Event, is_over: threading.Event) -> None:
    while not is_over.is_set():
        os.read(descriptor, RINGS_AT_ONCE)
        event.set()


def folder() -> Path:
    return Path(settings.DATA_DIR) / "bells"
