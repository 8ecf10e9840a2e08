"""A media worker in the test's process, with the test's database and folder."""

from collections.abc import Iterator
from contextlib import contextmanager

from service.media.sandbox.children import Children
from service.media.serving.local_socket import SOCKET
from service.media.work import MediaWork
from tests.service.media.waiting import wait_until


class Lasting(Children):
    """Children that stay warm for all tests: starting one takes longer than most tests."""

    def close(self) -> None:
        """Do nothing: `end` stops the children after the last test."""

    def end(self) -> None:
        super().close()


@contextmanager
def working(data_dir, children) -> Iterator[MediaWork]:
    """Run the media server alone; new content waits until the test calls `probe_once`."""
    worker = MediaWork(children, lambda: False)
    with worker.going_on():
        wait_until((data_dir / SOCKET).exists)
        yield worker
