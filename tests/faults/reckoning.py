"""Compare what Ferry promised with what exists: which things are lost, doubled, or half."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from service.library import library
from service.library.upkeep.sweep import sweep
from service.models import Account, File, Transfer
from service.store.disk_store import DiskStore
from service.transfers.download_folders import ids_on_disk
from tests.faults.tally import Reckoning

GONE = ""


class Promises:
    """What may exist: by the hash of a content, its possible names, or GONE.

    While a request runs, both the old and the new name are possible; the answer decides. A request
    without an answer decides nothing.
    """

    def __init__(self) -> None:
        self.possible: dict[str, set[str]] = {}

    def ask(self, content_sum: str, name: str) -> None:
        self.possible.setdefault(content_sum, {GONE}).add(name)

    def hear(self, content_sum: str, name: str) -> None:
        self.possible[content_sum] = {name}


def sum_of(content: bytes) -> str:
    return hashlib.sha1(content).hexdigest()


def reckoned(account: Account, store: DiskStore, promises: Promises) -> Reckoning:
    """Compare what exists with the promises, after a sweep as of three days later."""
    found = Reckoning(things=len(promises.possible))
    much_later = timezone.now() + timedelta(days=3)
    swept = sweep(store, much_later, timedelta(hours=1))
    found.lost += [f"{swept.missing} blobs"] if swept.missing else []
    names: dict[str, list[str]] = defaultdict(list)
    for file in File.objects.filter(account=account):
        names[file.sha1].append(file.name)
        with store.open(file.blob) as content:
            if sum_of(content.read()) != file.sha1:
                found.half.append(f"the content of {file.name}")
    for content_sum, possible in promises.possible.items():
        here = names.pop(content_sum, [])
        found.doubled += here[1:]
        if not possible & {*here, *([] if here else [GONE])}:
            found.lost.append(f"{sorted(possible)}, here: {here}")
    found.half += [f"unknown content of {name}" for each in names.values() for name in each]
    found.half += list(leavings(account, store))
    return found


def incoming() -> Path:
    """Return the library's folder for content that is still arriving."""
    return Path(settings.DATA_DIR) / "library" / "incoming"


def leavings(account: Account, store: DiskStore) -> Iterable[str]:
    """Yield leftovers that belong to nothing, and totals that don't match their parts."""
    named = set(File.objects.values_list("blob", flat=True))
    yield from ({blob.blob for blob in store.blobs()} ^ named)
    yield from (str(path) for path in incoming().glob("*"))
    over = Transfer.objects.filter(state__in=Transfer.OVER).values_list("pk", flat=True)
    yield from (f"place of {each}" for each in ids_on_disk() if each in set(over))
    total = File.objects.filter(account=account).aggregate(size=Sum("size_bytes", default=0))
    account.refresh_from_db()
    if not total["size"] == account.space_used_bytes == library.root_of(account).size_bytes:
        yield "the sizes"
