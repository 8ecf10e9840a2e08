"""Import records: which of a torrent's files are still in the folder they were imported into."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from service.library import library
from service.models import File, Folder, ImportRecord, Transfer


class Imported(NamedTuple):
    file_index: int  # in the torrent
    file_id: int
    size_bytes: int


@dataclass(frozen=True)
class Remainder:
    """What is left of an import: the folder, and which of the torrent's files are still in it."""

    folder: Folder
    present: tuple[Imported, ...]
    missing: tuple[Imported, ...]

    @property
    def missing_bytes(self) -> int:
        return sum(each.size_bytes for each in self.missing)

    @property
    def present_indexes(self) -> tuple[int, ...]:
        return tuple(each.file_index for each in self.present)


def find_record(transfer_id: int) -> ImportRecord | None:
    return ImportRecord.objects.filter(transfer=transfer_id).first()


def find_remainder(transfer_id: int) -> Remainder | None:
    """Return what is left of an import; None if its folder is gone or predates import records."""
    record = find_record(transfer_id)
    folder = Folder.objects.filter(pk=record.folder_id).first() if record else None
    if record is None or folder is None:
        return None
    below = File.objects.filter(library.below("folder__lineage", folder.lineage))
    ids = set(below.values_list("pk", flat=True))
    files = [Imported(*each) for each in record.files]
    return Remainder(
        folder,
        tuple(each for each in files if each.file_id in ids),
        tuple(each for each in files if each.file_id not in ids),
    )


def keep_record(transfer: Transfer, folder: Folder, files: Iterable[Imported]) -> None:
    ImportRecord.objects.update_or_create(
        transfer=transfer, defaults={"folder_id": folder.pk, "files": list(files)}
    )


def restore_done(refill: Transfer, record: ImportRecord, now: datetime) -> None:
    """Recreate the finished transfer that a refill, now removed, had replaced."""
    transfer = Transfer.objects.create(
        account_id=refill.account_id,
        kind=refill.kind,
        source=refill.source,
        folder_id=refill.folder_id,
        info_hash_v1=refill.info_hash_v1,
        info_hash_v2=refill.info_hash_v2,
        title=refill.title,
        title_key=refill.title_key,
        is_private=refill.is_private,
        size_bytes=sum(Imported(*each).size_bytes for each in record.files),
        state=Transfer.State.DONE,
        progress_percent=101,
        folder_created_id=record.folder_id,
        created_at=refill.created_at,
        updated_at=now,
    )
    ImportRecord.objects.create(transfer=transfer, folder_id=record.folder_id, files=record.files)


def refill(transfer: Transfer, remainder: Remainder) -> None:
    """Save a transfer that fetches a folder's missing files."""
    folder = remainder.folder
    transfer.folder = folder.parent or folder
    transfer.title, transfer.title_key = folder.name, folder.name_key
    transfer.size_bytes = remainder.missing_bytes
    transfer.notice = "missing_files"
    transfer.save()
    keep_record(transfer, folder, [*remainder.present, *remainder.missing])
