"""Blobs as objects in a bucket of an S3 store, for several machines."""

import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar, cast

import obstore
from django.conf import settings
from obstore.store import S3Store

from common.storage import database_connection
from common.storage.durable import replacing
from service.errors import Busy, DiskFull, NotFound
from service.store.blobs import Orphan, Store, StoredBlob, check_id
from service.store.folders import free_bytes, make_folder, translate_disk_full
from service.store.objects.bucket import Bucket
from service.store.objects.failures import translate_failures
from service.store.objects.listing import (
    LISTED_AT_ONCE,
    ORPHANS,
    blobs_with_marks,
    key_of,
    sizes_between,
)
from service.store.objects.loans import Loans
from service.store.objects.notes import ObjectNotes
from service.store.objects.reader import ObjectReader
from service.store.objects.requests import SIGNED_SECONDS, ObjectRequests
from service.store.objects.writer import PART_BYTES, ObjectWriter
from service.store.sums import CHUNK_BYTES, Stored, Sums, pieces_of

if TYPE_CHECKING:
    from obstore.store import S3Config

# Readers of an unreachable store fail within six seconds.
TIMEOUT, CONNECT_TIMEOUT = "2500ms", "1s"
MOST_RETRIES, RETRY_TIMEOUT = 2, timedelta(seconds=5)
FILES_AT_ONCE = 4
SIZES_AT_ONCE = 16
# A store knows when an upload in parts began, but not when its last part came.
LONGEST_UPLOAD = timedelta(days=2)
PUBLISHED = "shared"  # in stores that exist already
PUBLISHED_AT_ONCE_BYTES = 16 * 2**20
# The mark of an orphan that was brought back; a current orphan's mark is empty.
BACK = b"back"


def library_at(url: str) -> "ObjectStore":
    return _library_of(url, Path(settings.DATA_DIR), os.getpid())


@cache
def _library_of(url: str, folder: Path, _process: int) -> "ObjectStore":
    """Return the store of this process: its connections and threads don't survive a fork."""
    return ObjectStore(Bucket.of(url, os.environ), folder, settings.MEDIA_CACHE)


class ObjectStore(ObjectNotes, Store):
    """Blobs in a bucket.

    `blobs/ab/cd/<id>` is created once, and never written again. No object is renamed, as that
    would copy it: `orphans/ab/cd/<id>` marks an orphan, whose bytes stay where they are. `shared/`
    holds files of DATA_DIR by their paths, and `notes/` holds the store's notes about itself.
    """

    # Small files of an archive then arrive as fast as large ones.
    opens_ahead: ClassVar = 8
    # Uploads read and hash all bytes anyway.
    may_hash_ahead: ClassVar = False

    def __init__(self, bucket: Bucket, scratch: Path, loans_bytes: int) -> None:
        super().__init__(open_bucket(bucket))
        self._bucket = bucket
        self._requests = ObjectRequests(bucket)
        self._scratch = scratch
        self._loans = Loans(scratch / "loans", loans_bytes)

    def public_link(
        self, blob: str, method: str, disposition: str, content_type: str, seconds: int
    ) -> str | None:
        if not settings.STORE_PUBLIC_URL:
            return None
        query = {
            "response-content-disposition": disposition,
            "response-content-type": content_type,
        }
        return self._bucket.sign(
            method, key_of(check_id(blob)), seconds, query, endpoint=settings.STORE_PUBLIC_URL
        )

    def close(self) -> None:
        self._requests.close()

    def writer(self, blob: str = "") -> ObjectWriter:
        return ObjectWriter(self._requests, blob and check_id(blob))

    def link_all(
        self,
        paths: Iterable[Path],
        report: Callable[[int], None] = lambda _size_bytes: None,
        begun: Mapping[Path, Sums] | None = None,  # noqa: ARG002  See above.
    ) -> list[Stored]:
        """Upload files, several at once; their copies on this machine are lent from now on."""
        turn, is_over = threading.Lock(), threading.Event()

        def report_in_turn(size_bytes: int) -> None:
            with turn:
                if is_over.is_set():
                    raise CancelledError
                report(size_bytes)

        with ThreadPoolExecutor(FILES_AT_ONCE, thread_name_prefix="objects") as threads:
            futures = [threads.submit(self._upload, path, report_in_turn) for path in paths]
            over, _others = wait(futures, return_when=FIRST_EXCEPTION)
            failure = next(filter(None, (future.exception() for future in over)), None)
            is_over.set()
        # What is stored doesn't depend on the copies.
        with suppress(OSError):
            self._loans.sweep()
        blobs = [future.result() for future in futures if not future.exception()]
        if failure:
            self.delete_all([each.blob for each in blobs])
            raise failure
        return blobs

    def _upload(self, path: Path, report: Callable[[int], None]) -> Stored:
        with path.open("rb", buffering=0) as file, self.writer() as writer:
            for piece in pieces_of(file):
                writer.write(piece)
                report(len(piece))
            stored = writer.commit()
        self._loans.adopt(stored.blob, path)
        return stored

    def free_bytes(self) -> int:
        """Delete copies that no program uses, and return how much space is free then."""
        self._loans.sweep()
        return free_bytes(self._scratch)

    def open(self, blob: str) -> BinaryIO:
        database_connection.give_back()
        return self._reader(key_of(check_id(blob)))

    def _reader(self, key: str) -> BinaryIO:
        sign = partial(self._bucket.sign, "GET", key, SIGNED_SECONDS)
        can_pass_on = self._bucket.endpoint.startswith("http://")
        return cast("BinaryIO", ObjectReader(self._objects, key, sign if can_pass_on else None))

    def size(self, blob: str) -> int | None:
        return self._size_of(key_of(check_id(blob)))

    def _size_of(self, key: str) -> int | None:
        try:
            with translate_failures():
                return obstore.head(self._objects, key)["size"]
        except NotFound:
            return None

    def sizes(self, blobs: Iterable[str]) -> Iterator[int | None]:
        with ThreadPoolExecutor(SIZES_AT_ONCE, thread_name_prefix="objects") as threads:
            yield from threads.map(self.size, blobs)

    def sizes_in_order(self, blobs: Sequence[str]) -> list[int | None]:
        """Read them from a listing: one request answers for a thousand."""
        if not blobs:
            return []
        sizes = sizes_between(self._objects, check_id(blobs[0]), check_id(blobs[-1]))
        return [sizes.get(blob) for blob in blobs]

    def on_disk(self, blob: str) -> Path:
        return self._loans.lend(check_id(blob), partial(self.open, blob))

    def delete(self, blob: str) -> bool:
        return bool(self.delete_all([blob]))

    def delete_all(self, blobs: Sequence[str]) -> int:
        """Delete blobs, and return their number: a store doesn't report which of them existed."""
        keys = [key_of(check_id(blob)) for blob in blobs]
        if keys:
            with translate_failures(), suppress(FileNotFoundError):
                obstore.delete(self._objects, keys)
        for blob in blobs:
            self._loans.forget(blob)
        return len(blobs)

    def blobs(self) -> Iterator[StoredBlob]:
        for stored, mark in blobs_with_marks(self._objects):
            if stored and (mark is None or mark.size_bytes):
                yield StoredBlob(stored.blob, (mark or stored).modified_at, stored.size_bytes)

    def drop_drafts(self, before: datetime) -> int:
        begun_before = before - LONGEST_UPLOAD
        uploads = [
            each for each in self._requests.list_unfinished() if each.begun_at < begun_before
        ]
        for each in uploads:
            self._requests.abort(each.key, each.upload_id)
        return len(uploads)

    def set_aside(self, blob: str, today: date) -> bool:  # noqa: ARG002  The store dates the mark.
        if self.size(blob) is None:
            return False
        with translate_failures():
            obstore.put(self._objects, key_of(blob, ORPHANS), b"")
        return True

    def orphans(self) -> Iterator[Orphan]:
        for stored, mark in blobs_with_marks(self._objects):
            if stored and mark and not mark.size_bytes:
                since = mark.modified_at.date()
                yield Orphan(stored.blob, since, stored.modified_at, stored.size_bytes)

    def bring_back(self, orphan: Orphan) -> None:
        with translate_failures():
            obstore.put(self._objects, key_of(orphan.blob, ORPHANS), BACK)

    def drop_orphans(self, until: date) -> int:
        count = 0
        for stored, mark in blobs_with_marks(self._objects):
            if mark is None:
                continue
            is_due = not mark.size_bytes and mark.modified_at.date() <= until
            if stored and is_due:
                self.delete(stored.blob)
                count += 1
            if is_due or not stored:
                with translate_failures():
                    obstore.delete(self._objects, key_of(mark.blob, ORPHANS))
        return count

    def publish(self, path: Path) -> None:
        if path.stat().st_size <= PUBLISHED_AT_ONCE_BYTES:
            # These requests leave a busy store more time.
            self._requests.create(self._published_key(path), path.read_bytes(), may_replace=True)
            return
        with translate_failures():
            obstore.put(
                self._objects,
                self._published_key(path),
                path,
                chunk_size=PART_BYTES,
                max_concurrency=2,
            )

    def is_published(self, path: Path) -> bool:
        return self._size_of(self._published_key(path)) is not None

    def fetch_published(self, path: Path) -> bool:
        try:
            source = ObjectReader(self._objects, self._published_key(path))
        except NotFound:
            return False
        try:
            with source, translate_disk_full():
                make_folder(path.parent)
                with replacing(path, by_many=True) as draft, draft.open("wb") as file:
                    shutil.copyfileobj(source, file, CHUNK_BYTES)
        except DiskFull as full:
            raise Busy from full
        return True

    def open_published(self, path: Path) -> BinaryIO:
        return self._reader(self._published_key(path))

    def unpublish(self, folder: Path) -> None:
        self._drop(self._published_key(folder), datetime.max.replace(tzinfo=UTC))

    def drop_published(self, before: datetime) -> int:
        return self._drop(PUBLISHED, before)

    def _drop(self, folder: str, before: datetime) -> int:
        count = 0
        with translate_failures():
            for batch in obstore.list(self._objects, folder, chunk_size=LISTED_AT_ONCE):
                keys = [each["path"] for each in batch if each["last_modified"] < before]
                if keys:
                    obstore.delete(self._objects, keys)
                count += len(keys)
        return count

    def _published_key(self, path: Path) -> str:
        return f"{PUBLISHED}/{path.relative_to(self._scratch).as_posix()}"


def open_bucket(bucket: Bucket) -> S3Store:
    config: S3Config = {
        "endpoint": bucket.endpoint,
        "region": bucket.region,
        "access_key_id": bucket.key_id,
        "secret_access_key": bucket.secret,
        "virtual_hosted_style_request": False,
    }
    if bucket.token:
        config["session_token"] = bucket.token
    return S3Store(
        bucket.name,
        prefix=bucket.prefix or None,
        config=config,
        client_options={
            "timeout": TIMEOUT,
            "connect_timeout": CONNECT_TIMEOUT,
            "allow_http": True,
        },
        retry_config={"max_retries": MOST_RETRIES, "retry_timeout": RETRY_TIMEOUT},
    )
