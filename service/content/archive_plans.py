"""Archive plans: the layout of an archive, fixed when its link is made."""

import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import compress
from operator import eq, not_
from pathlib import Path

from django.conf import settings

from common.names import safe_name
from service.content import signed_links, traversal
from service.content.archive import (
    ArchiveFiles,
    ArchiveFolder,
    ArchivePlan,
    MissingFile,
    Node,
    write_plan,
)
from service.content.traversal import Step
from service.models import Account
from service.store.blobs import Store, library_store
from service.store.folders import translate_disk_full

# Longer than the lifetime of any link to a plan.
LIFETIME = signed_links.LIFETIME + 2 * signed_links.WINDOW
KNOWN_FOR = timedelta(hours=1)
# Checking each of 10,000 blobs takes more than half of the time within which their archive must
# begin. Of a larger selection, only this many are checked unless a loss is known. If another file
# is missing, the archive breaks off, and the next request checks all of them.
LOOKED_AT = 500

Selection = tuple[set[int], set[int]]  # ids of folders and of files


def create_link(
    account: Account,
    folder_ids: Iterable[int],
    file_ids: Iterable[int],
    name: str,
    *,
    now: datetime,
) -> str:
    """Return the signed link of a ZIP, as path and query. Raises NotFound, DiskFull.

    `name` is the archive's name without ".zip", and in it the name of a root folder. An unchanged
    selection has the same plan, and within the hour the same link, so a thousand requests don't
    fill the disk.
    """
    selection = set(folder_ids), set(file_ids)
    key = _key(account, selection, name, now)
    plan_id = _find_recent(account, key, now) or _make_plan(account, selection, name, key, now)
    return signed_links.link(account, "zip", plan_id, f"{safe_name(name)}.zip", now=now)


def path(account_id: int, plan_id: str) -> Path:
    return _home() / f"{account_id}-{plan_id}"


def prune(now: datetime) -> None:
    """Remove plans whose links have all expired, and files that a crash left behind."""
    for plan in _home().iterdir():
        with suppress(FileNotFoundError):
            if plan.stat().st_mtime < (now - LIFETIME).timestamp():
                plan.unlink()


def _home() -> Path:
    home = Path(settings.DATA_DIR) / "pins"
    home.mkdir(mode=0o700, exist_ok=True)
    return home


def _key(account: Account, selection: Selection, name: str, now: datetime) -> Path:
    """Return the path of a selection's plan id, which depends on revision and known losses."""
    rows = Account.objects.filter(pk=account.pk)
    revision = rows.values_list("library_revision", flat=True).first()
    words = [revision, name, library_store().is_known_intact(now), *map(sorted, selection)]
    return _home() / f"{account.pk}-key-{sha256(json.dumps(words).encode()).hexdigest()}"


def _find_recent(account: Account, key: Path, now: datetime) -> str | None:
    """Return the id of an existing plan, if so recent that later losses are noticed soon."""
    with suppress(FileNotFoundError):
        if key.stat().st_mtime > (now - KNOWN_FOR).timestamp():
            plan_id = key.read_text()
            os.utime(path(account.pk, plan_id), (now.timestamp(), now.timestamp()))
            return plan_id
    return None


def _make_plan(account: Account, selection: Selection, name: str, key: Path, now: datetime) -> str:
    steps = traversal.walk(account, *selection)
    store = library_store()
    store.refuse_beyond(1)
    with translate_disk_full():
        looked_at = LOOKED_AT if store.is_known_intact(now) else math.inf
        plan = _write(account, SelectionTree(steps, store, name, looked_at).nodes(), now)
        plan_id = plan.etag.strip('"')
        if not plan.missing_count:
            _remember(key, plan_id, now)
    return plan_id


def _write(account: Account, nodes: Iterable[Node], now: datetime) -> ArchivePlan:
    with _draft() as draft:
        with draft.open("xb", buffering=0) as target:
            plan = write_plan(nodes, target, now)
        _move(draft, path(account.pk, plan.etag.strip('"')), now)
    library_store().publish(path(account.pk, plan.etag.strip('"')))
    return plan


def _remember(key: Path, plan_id: str, now: datetime) -> None:
    with _draft() as draft:
        draft.write_text(plan_id)
        _move(draft, key, now)


@contextmanager
def _draft() -> Iterator[Path]:
    draft = _home() / f".{secrets.token_hex(8)}"
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _move(draft: Path, target: Path, now: datetime) -> None:
    os.utime(draft, (now.timestamp(), now.timestamp()))
    draft.rename(target)


class SelectionTree:
    """A walk as nested folders for the archive, read one step ahead."""

    def __init__(
        self, steps: Iterator[Step], store: Store, root_name: str, looked_at: float
    ) -> None:
        """`looked_at`: how many files are checked on disk; the others are assumed to exist."""
        self._looked_at = looked_at
        self._steps = steps
        self._store = store
        self._root_name = root_name
        self._next = next(steps, None)

    def nodes(self, depth: int = 0) -> Iterator[Node]:
        while self._next is not None and self._next.depth == depth:
            item = self._next.item
            self._next = next(self._steps, None)
            if isinstance(item, ArchiveFiles):
                yield from self._files(item)
            else:
                name = item.name or self._root_name
                yield ArchiveFolder(name, item.updated_at, self.nodes(depth + 1))

    def _files(self, files: ArchiveFiles) -> Iterator[Node]:
        if self._looked_at <= 0:
            yield files
            return
        self._looked_at -= len(files.blobs)
        is_there = [*map(eq, self._store.sizes(files.blobs), files.sizes_bytes)]
        yield files.only(is_there)
        yield from map(MissingFile, compress(files.names, map(not_, is_there)))
