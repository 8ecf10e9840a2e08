"""The beginnings of fetches, saved in the store for a worker of another machine."""

import logging
import os
import secrets
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

import msgspec
from django.db import DatabaseError, close_old_connections, transaction

from service.details import Details
from service.errors import Busy, StoreAway
from service.fetching import resume_point
from service.fetching.errors import TemporaryFailure
from service.fetching.http.content import translate_disk_errors
from service.fetching.resume_point import CONTENT, ResumePoint
from service.models import SavedFetch
from service.store.blobs import Store
from service.store.folders import private
from service.transfers.download_folders import DownloadFolder
from service.worker.leases import Lease

log = logging.getLogger("ferry.worker")

# How much the death of a machine costs at most, if the store is as fast as the fetch.
PART_BYTES = 16 * 2**20
COPIED_BYTES = 2**20


class SavedFetches:
    """The beginnings of fetches: parts in the store, and a row that lists those that are there.

    Guarantee: a row describes one content. Its parts never change, since each has a new name, and
    only the worker that holds the transfer adds to it.
    Cost: the store also gets the bytes of large fetches as they arrive, and not only at their end.
    """

    def __init__(self, store: Store, lease: Lease) -> None:
        self._store = store
        self._lease = lease

    def has(self, transfer_id: int) -> bool:
        return SavedFetch.objects.filter(transfer=transfer_id).exists()

    def save(
        self,
        key: str,
        folder: Path,
        resume: ResumePoint,
        may_go_on: Callable[[], bool],
        *,
        with_rest: bool = False,
    ) -> None:
        try:
            self._save(int(key), folder, resume, may_go_on, least=1 if with_rest else PART_BYTES)
        except (StoreAway, DatabaseError, OSError) as error:
            log.info("the beginning of a fetch waits to be saved transfer=%s %r", key, error)
        except Exception:
            log.exception("unexpected failure to save a beginning transfer=%s", key)
        finally:
            close_old_connections()

    def _save(
        self,
        transfer_id: int,
        folder: Path,
        resume: ResumePoint,
        may_go_on: Callable[[], bool],
        least: int,
    ) -> None:
        parts = self._parts_of(transfer_id, resume)
        saved_bytes = sum(size_bytes for _name, size_bytes in parts)
        with open(folder / CONTENT, "rb") as content:
            while may_go_on() and resume.safe_bytes - saved_bytes >= least:
                size_bytes = min(PART_BYTES, resume.safe_bytes - saved_bytes)
                part = folder / f"part-{secrets.token_hex(8)}"
                try:
                    cut(content, saved_bytes, size_bytes, part)
                    self._store.publish(part)
                finally:
                    part.unlink(missing_ok=True)
                parts.append((part.name, size_bytes))
                saved_bytes += size_bytes
                self._record(transfer_id, replace(resume, safe_bytes=saved_bytes), parts)

    @staticmethod
    def _parts_of(transfer_id: int, resume: ResumePoint) -> list[tuple[str, int]]:
        """Return the parts of this content that the store has."""
        row = SavedFetch.objects.filter(transfer=transfer_id).first()
        if row is None or point_of(row).facts.validator != resume.facts.validator:
            return []
        return [(name, size_bytes) for name, size_bytes in row.parts]

    def _record(self, transfer_id: int, resume: ResumePoint, parts: list[tuple[str, int]]) -> None:
        values = {"resume": asdict(replace(resume, is_complete=False)), "parts": parts}
        with transaction.atomic():
            mine = self._lease.transfers().select_for_update()
            if self._lease.name and mine.filter(pk=transfer_id).exists():
                SavedFetch.objects.update_or_create(values, transfer_id=transfer_id)

    def restore(self, key: str, folder: Path, beyond_bytes: int, check: Callable[[], None]) -> None:
        try:
            row = SavedFetch.objects.filter(transfer=int(key)).first()
            if row is not None and point_of(row).safe_bytes > beyond_bytes:
                self._restore(row, folder, check)
        except (StoreAway, Busy, DatabaseError) as error:
            details = Details("beginning_unreadable")
            raise TemporaryFailure(details, most_tries=sys.maxsize) from error
        finally:
            close_old_connections()

    def _restore(self, row: SavedFetch, folder: Path, check: Callable[[], None]) -> None:
        draft = folder / f"{CONTENT}.new"
        with translate_disk_errors():
            with open(draft, "wb", opener=private) as content:
                for name, _size_bytes in row.parts:
                    check()
                    part = folder / name
                    if not self._store.fetch_published(part):
                        row.delete()
                        return
                    with part.open("rb") as file:
                        shutil.copyfileobj(file, content, COPIED_BYTES)
                    part.unlink()
                content.flush()
                os.fsync(content.fileno())
            resume_point.forget(folder)
            draft.replace(folder / CONTENT)
            resume_point.write(folder, point_of(row))
        log.info("restored transfer=%d bytes=%d", row.transfer_id, point_of(row).safe_bytes)

    def forget(self, folder: DownloadFolder, transfer_id: int) -> None:
        """Delete what was saved of a fetch that is over. Its row may be gone with the transfer."""
        try:
            self._store.unpublish(folder.path)
        except StoreAway:
            log.info("parts stay until the store is swept transfer=%d", transfer_id)
        SavedFetch.objects.filter(transfer=transfer_id).delete()


def point_of(row: SavedFetch) -> ResumePoint:
    return msgspec.convert(row.resume, ResumePoint)


def cut(content: BinaryIO, begin: int, size_bytes: int, part: Path) -> None:
    content.seek(begin)
    with open(part, "wb", opener=private) as file:
        while size_bytes and (block := content.read(min(size_bytes, COPIED_BYTES))):
            file.write(block)
            size_bytes -= len(block)
    if size_bytes:
        raise OSError("the file has less than what was written to it")
