"""Files that arrive in pieces: after an interruption, browsers send only the rest."""

import fcntl
import os
import secrets
import socket
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import BinaryIO

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Count, F, Sum
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext as _

from common.http.multipart import Source
from common.storage import durable, row_cache
from common.storage.locks import is_locked, try_lock
from webui.connection.connection import Service
from webui.http.bodies import CutOff
from webui.models import ResumableUpload, User
from webui.uploads import new_files
from webui.uploads.receiving import UploadRefused, refuse_beyond_disk
from webui.v1.records import Added

State = ResumableUpload.State

LIFETIME = timedelta(days=7)
MOST_UPLOADS, MOST_SHOWN = 1000, 20
PIECE_BYTES = 256 * 1024
SAFE_EVERY_BYTES = 64 * 2**20
SETTLE_SECONDS, SETTLE_TURNS = 3.0, 60
# For a browser that missed the response. Later, the same file counts as a new upload.
DONE_LIFETIME = timedelta(minutes=10)
# Files that are locked while a request adds to the upload, or sends it to the service.
BUSY, MOVING = ".busy", ".moving"


class Overtaken(UploadRefused):
    """Another request has sent these bytes, or the upload is over."""

    def __init__(self) -> None:
        super().__init__(409, _("The upload continues in another window."))


def begin(user: User, service: Service, folder: str, name: str, size_bytes: int) -> ResumableUpload:
    """Begin an upload with an empty file. Raises UploadRefused."""
    now = timezone.now()
    if ResumableUpload.find_unfinished(now).filter(user=user).count() >= MOST_UPLOADS:
        words = _("You have too many unfinished uploads. Finish or cancel some of them.")
        raise UploadRefused(429, words)
    upload = ResumableUpload(
        key=secrets.token_hex(16),
        user=user,
        service=service.key,
        folder=folder,
        name=name,
        size_bytes=size_bytes,
        boot=this_boot(),
        machine=this_machine(),
        expires_at=now + LIFETIME,
    )
    parts_folder().mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path_of(upload), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    upload.save()
    return upload


def missing_bytes() -> int:
    """Return how many bytes unfinished uploads still have to write to the disk."""
    unfinished = ResumableUpload.find_unfinished(timezone.now())
    missing = Sum(F("size_bytes") - F("safe_bytes"), default=0)
    total: int = unfinished.aggregate(bytes=missing)["bytes"]
    return total


def summarize_unfinished() -> list[tuple[str, int, int, int]]:
    """Return each person's name, uploads, and how many of how many bytes have arrived."""
    unfinished = ResumableUpload.find_unfinished(timezone.now())
    by_name = unfinished.values_list("user__username").order_by("user__username")
    return list(by_name.annotate(Count("pk"), Sum("safe_bytes"), Sum("size_bytes")))


def find(user: User, service: Service, key: str) -> ResumableUpload | None:
    """Return the upload, if it is this person's, and was meant for this service."""
    mine = ResumableUpload.objects.filter(user=user, service=service.key)
    return mine.filter(key=key, expires_at__gt=timezone.now()).first()


def list_interrupted(user: User, service: Service, folder: str) -> list[ResumableUpload]:
    """Return the person's uploads to a folder to which no request is adding now."""

    def load() -> list[ResumableUpload]:
        mine = ResumableUpload.objects.filter(user=user, service=service.key, folder=folder)
        return list(mine.filter(state=State.ARRIVING).order_by("-pk")[:MOST_SHOWN])

    rows = row_cache.read(("uploads", user.pk, service.key, folder), load)
    return [row for row in rows if row.expires_at > timezone.now() and not is_busy(row)]


def is_busy(upload: ResumableUpload) -> bool:
    return is_locked(path_of(upload, BUSY))


def arrived_bytes(upload: ResumableUpload) -> int:
    """Return how many bytes have arrived, without the checks of `offset_of`."""
    if upload.boot != this_boot():
        return upload.safe_bytes
    try:
        return path_of(upload).stat().st_size
    except FileNotFoundError:
        return 0


def offset_of(upload: ResumableUpload) -> int | None:
    """Return how many bytes have arrived, or None if the file is gone.

    After a reboot, only the bytes count that were synced to disk.
    """
    if upload.state != State.ARRIVING:
        return upload.size_bytes
    try:
        size_bytes = path_of(upload).stat().st_size
    except FileNotFoundError:
        return None
    if upload.boot == this_boot():
        return size_bytes
    if size_bytes < upload.safe_bytes:
        return None
    os.truncate(path_of(upload), upload.safe_bytes)
    note_safe(upload, upload.safe_bytes)
    return upload.safe_bytes


def settle(upload: ResumableUpload) -> None:
    """Wait until no request adds to the upload, but not for one on a dead connection.

    What a connection had received before it broke is written a moment later.
    """
    for _turn in range(SETTLE_TURNS):
        if not is_busy(upload):
            return
        Event().wait(SETTLE_SECONDS / SETTLE_TURNS)


def append(upload: ResumableUpload, body: Source, offset: int) -> int:
    """Write the body after the first `offset` bytes, as it arrives, and return the new size.

    What has arrived stays if the sender is cut off. A request may hang on a dead connection while
    a later one continues, so each piece is written only if the file still ends where this request
    wrote last. Raises Overtaken, and UploadRefused or OSError if the disk is full.
    """
    position = unsafe_from = offset
    with (
        open(path_of(upload), "r+b", buffering=0) as file,
        open(path_of(upload, BUSY), "wb") as busy,
    ):
        fcntl.flock(busy, fcntl.LOCK_SH)
        try:
            while piece := body.read(PIECE_BYTES):
                refuse_beyond_disk(len(piece), status=507)
                write_at(file, position, piece[: upload.size_bytes - position])
                position = min(position + len(piece), upload.size_bytes)
                if position - unsafe_from >= SAFE_EVERY_BYTES:
                    if not make_safe(upload, file, position):
                        raise Overtaken
                    unsafe_from = position
        except CutOff:
            pass
        finally:
            make_safe(upload, file, position)
    return position


def write_at(file: BinaryIO, position: int, piece: bytes) -> None:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        if os.fstat(file.fileno()).st_size != position:
            raise Overtaken
        file.seek(position)
        rest = memoryview(piece)
        while rest:
            rest = rest[file.write(rest) :]
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def make_safe(upload: ResumableUpload, file: BinaryIO, position: int) -> bool:
    """Return False if the upload is over: it was canceled, or its person was removed."""
    os.fdatasync(file.fileno())
    # The database may be on the same full disk. Without its row, less is safe in a power cut.
    try:
        return note_safe(upload, position)
    except DatabaseError:
        return True


def note_safe(upload: ResumableUpload, position: int) -> bool:
    upload.safe_bytes, upload.boot = position, this_boot()
    upload.expires_at = timezone.now() + LIFETIME
    row = ResumableUpload.objects.filter(pk=upload.pk, state=State.ARRIVING)
    return bool(row.update(safe_bytes=position, boot=upload.boot, expires_at=upload.expires_at))


def hand_over(upload: ResumableUpload, service: Service) -> Added | None:
    """Send the whole file to the service; return None if another request has.

    Raises Failure: the file then waits here for another try. Raises Overtaken while another request
    sends it, since that may still fail.
    """
    row = ResumableUpload.objects.filter(pk=upload.pk)
    unfinished = row.exclude(state=State.DONE)
    expires_at = timezone.now() + LIFETIME
    with open(path_of(upload, MOVING), "wb") as moving:
        # If a process died while it sent the file, the state is MOVING, but the lock is free.
        if try_lock(moving) and unfinished.update(state=State.MOVING, expires_at=expires_at):
            added = send(upload, service)
            remove_files(upload)
            return added
    if row.filter(state=State.DONE).exists():
        return None
    raise Overtaken


def send(upload: ResumableUpload, service: Service) -> Added:
    row = ResumableUpload.objects.filter(pk=upload.pk, state=State.MOVING)
    try:
        with open(path_of(upload), "rb") as file:
            added = new_files.add(service, upload.folder, upload.name, file, upload.size_bytes)
    except BaseException:
        row.update(state=State.ARRIVING)
        raise
    row.update(state=State.DONE, expires_at=timezone.now() + DONE_LIFETIME)
    return added


def forget(upload: ResumableUpload) -> None:
    remove_files(upload)
    upload.delete()


@receiver(post_delete, sender=ResumableUpload)
def remove_files_later(instance: ResumableUpload, **_more: object) -> None:
    """Remove the files of an upload that was deleted with its person."""
    transaction.on_commit(partial(remove_files, instance))


def remove_files(upload: ResumableUpload) -> None:
    for suffix in ("", BUSY, MOVING):
        path_of(upload, suffix).unlink(missing_ok=True)


def prune(now: datetime) -> None:
    """Delete uploads that no one has continued in time, and files that no row names."""
    for upload in ResumableUpload.objects.filter(expires_at__lte=now):
        forget(upload)
    keys = set(ResumableUpload.objects.values_list("key", flat=True))
    with suppress(FileNotFoundError):
        for part in parts_folder().iterdir():
            is_old = now.timestamp() - part.stat().st_mtime > LIFETIME.total_seconds()
            if part.stem not in keys and is_old:
                part.unlink(missing_ok=True)


def parts_folder() -> Path:
    return Path(settings.DATA_DIR) / "resumable"


def path_of(upload: ResumableUpload, suffix: str = "") -> Path:
    return parts_folder() / f"{upload.key}{suffix}"


def is_elsewhere(upload: ResumableUpload) -> bool:
    """Return whether another machine has what arrived: a request may reach any of them."""
    is_here = upload.state != State.ARRIVING or path_of(upload).exists()
    return not is_here and upload.machine not in ("", this_machine())


def this_machine() -> str:
    return socket.gethostname()[:64]


def this_boot() -> str:
    return durable.read_boot_id().strip()
