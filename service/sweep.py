"""What the library leaves behind on the disk, and what the disk has lost."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from service.store import Store


@dataclass
class Swept:
    discarded: int = 0  # blobs of deleted files
    orphans: int = 0  # blobs that no row names
    temporary: int = 0  # files of writers that died
    missing: int = 0  # rows whose blob is gone; each is logged


def sweep(store: Store, now: datetime, grace: timedelta) -> Swept:
    raise NotImplementedError
