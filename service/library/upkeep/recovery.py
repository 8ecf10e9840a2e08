"""Restore blobs without rows: orphans, and blobs that only a newer database knew."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from common.batches import batches
from service.accounts.accounts import find, normalize_email
from service.library import bulk_insert, library, tree_names
from service.library.bulk_insert import NewFile
from service.library.upkeep import database_match
from service.library.upkeep.orphans import unnamed_blobs
from service.models import Account
from service.store.blobs import Store, StoredBlob
from service.store.sums import CHUNK_BYTES, Stored, Sums

BEGINNING_BYTES = 16
# The offset of a format's known bytes, those bytes, and its extension.
BEGINNINGS = (
    (0, b"\xff\xd8\xff", "jpg"),
    (0, b"\x89PNG", "png"),
    (0, b"GIF8", "gif"),
    (8, b"WEBP", "webp"),
    (4, b"ftypheic", "heic"),
    (4, b"ftypavif", "avif"),
    (4, b"ftypM4A", "m4a"),
    (4, b"ftypqt", "mov"),
    (4, b"ftyp", "mp4"),
    (0, b"\x1aE\xdf\xa3", "mkv"),
    (8, b"AVI ", "avi"),
    (8, b"WAVE", "wav"),
    (0, b"ID3", "mp3"),
    (0, b"\xff\xfb", "mp3"),
    (0, b"fLaC", "flac"),
    (0, b"OggS", "ogg"),
    (0, b"%PDF", "pdf"),
    (0, b"PK\x03\x04", "zip"),
    (0, b"Rar!", "rar"),
    (0, b"7z\xbc\xaf", "7z"),
)


class Name(NamedTuple):
    """The account and path of a blob in another copy of the database."""

    email: str
    path: tree_names.Path


@dataclass(frozen=True)
class Recovered:
    """A folder that a recovery has created, and its account."""

    email: str
    folder: str
    count: int
    size_bytes: int


def find_unnamed(store: Store, before: datetime) -> list[StoredBlob]:
    """Return blobs that no row names; those after `before` may belong to running uploads."""
    blobs: list[StoredBlob] = []
    for batch in batches(each for each in store.blobs() if each.written_at <= before):
        unnamed = {*unnamed_blobs([each.blob for each in batch])}
        blobs += [each for each in batch if each.blob in unnamed]
    return sorted(blobs, key=lambda each: (each.written_at, each.blob))


def put_in_folders(  # noqa: PLR0913  So much decides where they go.
    store: Store,
    blobs: Iterable[StoredBlob],
    *,
    names: dict[str, Name],
    otherwise: Account,
    folder: str,
    now: datetime,
) -> list[Recovered]:
    """Put the blobs into a new folder of the account that had them, and trust the database.

    This is atomic. Blobs whose account is unknown go to `otherwise`. Raises NoRoom.
    """
    by_account: dict[str, list[tuple[tree_names.Path, Stored]]] = {}
    emails = set(Account.objects.values_list("email", flat=True))
    for each in blobs:
        name = names.get(each.blob)
        has_account = name is not None and normalize_email(name.email) in emails
        email = name.email if name and has_account else otherwise.email
        path = name.path if name else (name_for(store, each),)
        by_account.setdefault(email, []).append((path, sum_of(store, each.blob)))
    with transaction.atomic():
        results = [
            _insert(find(email), folder, entries, now)
            for email, entries in sorted(by_account.items())
        ]
        database_match.accept(store)
    return results


def _insert(
    account: Account, folder: str, entries: list[tuple[tree_names.Path, Stored]], now: datetime
) -> Recovered:
    paths = tree_names.TorrentTree(
        [path for path, _stored in entries], library.MOST_DEPTH - 1
    ).paths()
    files = [NewFile(path, stored) for path, (_path, stored) in zip(paths, entries, strict=True)]
    new = bulk_insert.insert_tree(account, 0, folder, files, now).folder
    return Recovered(account.email, new.name, len(files), new.size_bytes)


def discard(store: Store, blobs: Iterable[StoredBlob], now: datetime) -> int:
    """Move the blobs to the orphans, and trust the database."""
    count = sum(store.set_aside(each.blob, now.date()) for each in blobs)
    with transaction.atomic():
        database_match.accept(store)
    return count


def sum_of(store: Store, blob: str) -> Stored:
    sums = Sums()
    with store.open(blob) as file:
        while chunk := file.read(CHUNK_BYTES):
            sums.add(chunk)
    return sums.of_blob(blob)


def name_for(store: Store, blob: StoredBlob) -> str:
    """Return a name for a blob, from the time it was written and the type its bytes suggest."""
    with store.open(blob.blob) as file:
        beginning = file.read(BEGINNING_BYTES)
    kinds = (kind for at, mark, kind in BEGINNINGS if beginning[at:].startswith(mark))
    return f"{timezone.localtime(blob.written_at):%Y-%m-%d %H.%M.%S}.{next(kinds, 'bin')}"


def names_in(copies: Iterable[Path], blobs: list[str]) -> dict[str, Name]:
    """Return blobs' names from copies of the database; the first copy that names a blob wins."""
    names: dict[str, Name] = {}
    for copy in copies:
        try:
            with closing(
                sqlite3.connect(f"{copy.as_uri()}?mode=ro&immutable=1", uri=True)
            ) as database:
                missing = [blob for blob in blobs if blob not in names]
                names |= dict(_names_in(database, missing))
        except sqlite3.Error:
            continue
    return names


def _names_in(database: sqlite3.Connection, blobs: list[str]) -> Iterator[tuple[str, Name]]:
    folders = {
        folder_id: (parent_id, name)
        for folder_id, parent_id, name in database.execute(
            "SELECT id, parent_id, name FROM service_folder"
        )
    }
    for batch in batches(blobs):
        marks = ",".join("?" * len(batch))
        rows = database.execute(
            "SELECT file.blob, file.name, file.folder_id, account.email FROM service_file file"  # noqa: S608
            f" JOIN service_account account ON account.id = file.account_id"
            f" WHERE file.blob IN ({marks})",
            batch,
        )
        for blob, name, folder_id, email in rows:
            path = [name]
            parent_id, folder_name = folders[folder_id]
            while parent_id is not None:
                path.append(folder_name)
                parent_id, folder_name = folders[parent_id]
            yield blob, Name(email, tuple(reversed(path)))
