"""A library to measure: real files, made as quickly as rows and blobs can be written."""

import secrets
import zlib
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from service.accounts import accounts
from service.library import bulk_insert, library
from service.library.bulk_insert import NewFile
from service.library.upkeep.sweep import sweep
from service.models import Account, File, Folder
from service.store.blobs import library_store
from service.store.sums import Stored

PASSWORD = "bench"


def account(email: str) -> Account:
    return accounts.add(email, PASSWORD, timezone.now(), space_max_bytes=10**13)


def blob(size_bytes: int, content: bytes = b"") -> Stored:
    """Write a blob, sparse beyond `content`. Skip fsync and hash, since only reads are measured."""
    name = secrets.token_hex(16)
    place = library_store().path(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as file:
        file.write(content)
        file.truncate(size_bytes)
    return Stored(name, size_bytes, secrets.token_hex(20), zlib.crc32(content))


def swept() -> None:
    """Sweep, as the worker does each day. In a library that is known to be whole, Ferry checks only
    a few blobs of a large archive before it begins."""
    sweep(library_store(), timezone.now(), settings.BLOB_GRACE)


def large_file(owner: Account, name: str, size_bytes: int) -> File:
    return library.add_file(owner, 0, name, blob(size_bytes), timezone.now())


def many_files(owner: Account, count: int, size_bytes: int, twin: Path) -> Folder:
    """Add files in folders of 100, and write the same to `twin` as plain files for the peers."""
    content = secrets.token_bytes(size_bytes)
    files = []
    for number in range(count):
        path = f"Folder {number // 100}", f"File {number % 100}.jpg"
        files.append(NewFile(path, blob(size_bytes, content)))
        place = twin.joinpath(*path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return bulk_insert.insert_tree(owner, 0, "Photos", files, timezone.now()).folder
