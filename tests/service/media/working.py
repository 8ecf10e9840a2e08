"""A worker for media inside the test's own process, on the test's own database and folder."""

from collections.abc import Iterator
from contextlib import contextmanager

from service.media.requests import SOCKET
from service.media.sandbox.children import Children
from service.media.work import MediaWork
from tests.service.media.waiting import wait_until


class Lasting(Children):
    """Warm for all tests: starting one takes longer than most of them."""

    def close(self) -> None:
        """They go with the last test."""

    def end(self) -> None:
        super().close()


@contextmanager
def working(data_dir, children) -> Iterator[MediaWork]:
    """The media server alone: what is new waits until the test says `probe_once`."""
    worker = MediaWork(children, lambda: False)
    with worker.going_on():
        wait_until((data_dir / SOCKET).exists)
        yield worker
