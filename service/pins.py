"""Pins: the layout of an archive, written down when its link is made, so that it never changes."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from django.conf import settings

from service import links, walking
from service.archive import File, Folder, Missing, Node, write_plan
from service.models import Account
from service.store import Store, disk_full_told, library_store
from service.walking import Entry

# Longer than any link to it lives.
LIFETIME = links.LIFETIME + 2 * links.WINDOW


def pin(
    account: Account,
    folder_ids: Iterable[int],
    file_ids: Iterable[int],
    name: str,
    *,
    now: datetime,
) -> str:
    """The signed link of a ZIP of this selection, as path and query. Raises NotFound, DiskFull.

    `name` is the archive's, without ".zip"; a root folder lies in it under that name too. The
    same selection, unchanged, has the same plan, and so the same pin and within the hour the same
    link: asking a thousand times fills no disk.
    """
    entries = walking.walk(account, folder_ids, file_ids)
    store = library_store()
    store.refuse_beyond(1)
    with disk_full_told():
        pin_id = _written(account, Tree(entries, store, name).nodes(), now)
    return links.zip_link(account, pin_id, name, now=now)


def path(account_id: int, pin_id: str) -> Path:
    return _home() / f"{account_id}-{pin_id}"


def prune(now: datetime) -> None:
    """Removes the plans that no link leads to any more, and what a crash has left."""
    for plan in _home().iterdir():
        with suppress(FileNotFoundError):
            if plan.stat().st_mtime < (now - LIFETIME).timestamp():
                plan.unlink()


def _home() -> Path:
    home = Path(settings.DATA_DIR) / "pins"
    home.mkdir(mode=0o700, exist_ok=True)
    return home


def _written(account: Account, nodes: Iterable[Node], now: datetime) -> str:
    draft = _home() / f".{secrets.token_hex(8)}"
    try:
        with draft.open("xb", buffering=0) as target:
            plan = write_plan(nodes, target, now)
        os.utime(draft, (now.timestamp(), now.timestamp()))
        pin_id = plan.etag.strip('"')
        draft.rename(path(account.pk, pin_id))
    finally:
        draft.unlink(missing_ok=True)
    return pin_id


class Tree:
    """A walk, as the nested folders that the archive asks for, one entry ahead of it."""

    def __init__(self, entries: Iterator[Entry], store: Store, root_name: str) -> None:
        self._entries = entries
        self._store = store
        self._root_name = root_name
        self._next = next(entries, None)

    def nodes(self, depth: int = 0) -> Iterator[Node]:
        while self._next is not None and self._next.depth == depth:
            entry = self._next
            self._next = next(self._entries, None)
            yield self._node(entry)

    def _node(self, entry: Entry) -> Node:
        if entry.blob is None:
            children = self.nodes(entry.depth + 1)
            return Folder(entry.name or self._root_name, entry.updated_at, children)
        if self._store.size(entry.blob) != entry.size_bytes:
            return Missing(entry.name)
        return File(entry.name, entry.size_bytes, entry.crc32, entry.updated_at, entry.blob)
