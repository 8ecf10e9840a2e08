from datetime import UTC, datetime

import pytest

from webui.transfers import poll
from webui.transfers.transfer_cache import TransferCache


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 9, 1, 12, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(tmp_path, monkeypatch) -> Clock:
    """Give each test its own cache, with a clock that stands still.

    A process has only one cache, and the views read the real clock.
    """
    clock = Clock()
    cache = TransferCache(tmp_path / "transfers.sqlite3", clock=clock)
    monkeypatch.setattr(poll, "store", lambda: cache)
    return clock
