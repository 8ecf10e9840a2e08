"""Import records: which of a torrent's files are still in the folder they were imported into.

Files that people deleted are missing. Files that they never wanted aren't.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from service.library import library
from service.models import File, Folder, ImportRecord, Transfer, TransferFiles


class TorrentEntry(NamedTuple):
    file_index: int
    path: str  # of names that the library allows
    size_bytes: int


class Imported(NamedTuple):
    file_index: int  # in the torrent
    file_id: int  # 0 if it never was in the folder
    size_bytes: int


@dataclass(frozen=True)
class Remainder:
    """What is left of an import: the folder, and which of the torrent's files are still in it."""

    folder: Folder
    present: tuple[Imported, ...]
    missing: tuple[Imported, ...]
    files: TransferFiles | None  # None if it predates choices of files

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
    imported = {each.file_index: each for each in map(Imported._make, record.files)}
    present = {index: each for index, each in imported.items() if each.file_id in ids}
    files = find_files(transfer_id)
    wanted = wanted_files(files) if files else imported.values()
    missing = (each for each in wanted if each.file_index not in present)
    return Remainder(
        folder,
        tuple(present.values()),
        tuple(imported.get(each.file_index, each) for each in missing),
        files,
    )


def wanted_files(files: TransferFiles) -> list[Imported]:
    """Return the wanted files of a torrent, as if none had been imported."""
    unwanted = set(files.unwanted)
    return [Imported(index, 0, size) for index, _path, size in files.files if index not in unwanted]


def find_files(transfer_id: int) -> TransferFiles | None:
    return TransferFiles.objects.filter(transfer=transfer_id).first()


def keep_files(transfer: Transfer, files: TransferFiles, unwanted: Iterable[int]) -> None:
    """Give a transfer the files of an earlier one of the same torrent."""
    TransferFiles.objects.create(transfer=transfer, files=files.files, unwanted=sorted(unwanted))
    transfer.file_count = len(files.files)
    transfer.save(update_fields=["file_count"])


def keep_record(transfer: Transfer, folder: Folder, files: Iterable[Imported]) -> None:
    ImportRecord.objects.update_or_create(
        transfer=transfer, defaults={"folder_id": folder.pk, "files": list(files)}
    )


def restore_done(refill: Transfer, record: ImportRecord, now: datetime) -> None:
    """Replace a refill by the finished transfer that it had replaced."""
    files = find_files(refill.pk)
    # Keep its torrent file.
    refill.delete()
    transfer = Transfer.objects.create(
        account_id=refill.account_id,
        kind=refill.kind,
        source=refill.source,
        torrent_id=refill.torrent_id,
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
    if files:
        indexes = {index for index, *_ in files.files}
        keep_files(transfer, files, indexes.difference(index for index, *_ in record.files))


def refill(transfer: Transfer, remainder: Remainder) -> None:
    """Save a transfer that fetches a folder's missing files."""
    folder = remainder.folder
    transfer.folder = folder.parent or folder
    transfer.title, transfer.title_key = folder.name, folder.name_key
    transfer.size_bytes = remainder.missing_bytes
    transfer.notice = "missing_files"
    transfer.save()
    earlier = [each for each in remainder.missing if each.file_id]
    keep_record(transfer, folder, [*remainder.present, *earlier])
    if remainder.files:
        keep_files(transfer, remainder.files, remainder.files.unwanted)
