"""Archive plans: the layout of an archive, fixed when its link is made."""

import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from itertools import compress
from operator import eq, not_
from pathlib import Path

from django.conf import settings

from common.names import safe_name
from service.content import signed_links, traversal
from service.content.archive import ArchiveFiles, ArchiveFolder, MissingFile, Step, write_plan
from service.models import Account
from service.store.blobs import Store, library_store
from service.store.folders import no_leftover, translate_disk_full

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
    looked_at = LOOKED_AT if store.is_known_intact(now) else math.inf
    draft = _home() / f".{secrets.token_hex(8)}"
    with translate_disk_full(), no_leftover(draft):
        with draft.open("xb", buffering=0) as target:
            plan = write_plan(_check(steps, store, name, looked_at), target, now)
        plan_id = plan.etag.strip('"')
        _move(draft, path(account.pk, plan_id), now)
        store.publish(path(account.pk, plan_id))
        if not plan.missing_count:
            draft.write_text(plan_id)
            _move(draft, key, now)
    return plan_id


def _move(draft: Path, target: Path, now: datetime) -> None:
    os.utime(draft, (now.timestamp(), now.timestamp()))
    draft.rename(target)


def _check(steps: Iterable[Step], store: Store, root_name: str, looked_at: float) -> Iterator[Step]:
    """Yield the steps, with a name for a root folder, and with missing files on their own.

    `looked_at`: how many files are checked on disk; the others are assumed to exist.
    """
    for depth, item in steps:
        if isinstance(item, ArchiveFolder):
            yield Step(depth, item._replace(name=item.name or root_name))
        elif isinstance(item, ArchiveFiles) and looked_at > 0:
            looked_at -= len(item.blobs)
            is_there = [*map(eq, store.sizes(item.blobs), item.sizes_bytes)]
            yield Step(depth, item.only(is_there))
            for name in compress(item.names, map(not_, is_there)):
                yield Step(depth, MissingFile(name))
        else:
            yield Step(depth, item)
