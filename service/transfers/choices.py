"""Which of a torrent's files people want.

A choice has a number, so that what a worker did for an earlier one is never taken for it.
"""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from service.accounts.accounts import changing_transfers
from service.errors import CannotChoose, NoRoom
from service.library import names
from service.models import Account, Transfer, TransferFiles
from service.transfers import imports, quota, states, transfers, wake_ups
from service.transfers.download_folders import DownloadPlan
from service.transfers.imports import TorrentEntry
from service.transfers.torrents import magnets

State = Transfer.State


class FileChoice(NamedTuple):
    """A choice as a worker read it; by default, that of a transfer whose files are unknown."""

    number: int = 0
    unwanted: frozenset[int] = frozenset()
    is_known: bool = False


UNKNOWN = FileChoice()


def read(transfer_id: int) -> FileChoice:
    files = TransferFiles.objects.filter(transfer=transfer_id)
    row = files.values_list("transfer__choice", "unwanted").first()
    return FileChoice(row[0], frozenset(row[1]), is_known=True) if row else UNKNOWN


def entries_of(plan: DownloadPlan) -> list[TorrentEntry]:
    """Return the files of a torrent, with names that can be stored and shown."""
    return [
        TorrentEntry(index, "/".join(names.clean(name, otherwise="_") for name in path), size_bytes)
        for index, path, size_bytes in plan.files
    ]


def know_files(row: Transfer, entries: Sequence[TorrentEntry]) -> None:
    """Record the files, under the account's lock. If people are to choose some, stop."""
    if not TransferFiles.objects.filter(transfer=row).exists():
        indexes = {each.file_index for each in entries}
        chosen = magnets.chosen_files(row.source, max(indexes) + 1) & indexes
        unwanted = sorted(indexes - chosen) if chosen else []
        TransferFiles.objects.create(transfer=row, files=entries, unwanted=unwanted)
    row.size_bytes, row.file_count = missing_bytes(row.pk), len(entries)
    if row.chooses and len(entries) > 1 and row.state not in Transfer.OVER:
        row.state, row.reason = State.STOPPED, states.CHOOSE_FILES
    else:
        row.chooses = False
    row.save(update_fields=["size_bytes", "file_count", "chooses", "state", "reason"])


def missing_bytes(transfer_id: int) -> int:
    """Return the size of the wanted files that aren't in the library."""
    remainder, files = imports.find_remainder(transfer_id), imports.find_files(transfer_id)
    wanted = imports.wanted_files(files) if files else []
    return sum(each.size_bytes for each in (remainder.missing if remainder else wanted))


def unwanted_of(transfer: Transfer) -> list[int]:
    files = imports.find_files(transfer.pk)
    return files.unwanted if files else []


def list_files(transfer: Transfer) -> Iterator[tuple[int, str, int, int, bool]]:
    """Yield the index, path, and size of each file, its progress, and whether it is wanted."""
    files = imports.find_files(transfer.pk)
    if files is None:
        return
    present, unwanted = _find_present(transfer, files), set(files.unwanted)
    percents = {} if transfer.state == State.DONE else dict(enumerate(files.percents))
    for index, path, size_bytes in files.files:
        is_wanted = index not in unwanted
        is_there = index in present or (is_wanted and transfer.state == State.MOVING)
        yield index, path, size_bytes, 100 if is_there else percents.get(index, 0), is_wanted


def _find_present(transfer: Transfer, files: TransferFiles) -> set[int]:
    """Return the indexes of the files that are in the library."""
    if remainder := imports.find_remainder(transfer.pk):
        return set(remainder.present_indexes)
    is_file = transfer.file_created_id is not None and transfers.has_result(transfer)
    return {index for index, *_ in files.files} if is_file else set()


def choose(account: Account, transfer_id: int, wanted: Collection[int], now: datetime) -> Transfer:
    """Want these files of a torrent and no others, and start it if it waits for that.

    Of a finished torrent, fetch those that aren't in its folder, as another transfer, and return
    that one. Raises NotFound, CannotChoose.
    """
    with changing_transfers(account, now) as locked:
        transfer = transfers.get(locked, transfer_id)
        if transfer.state == State.FAILED:
            raise CannotChoose("transfer_failed")
        files = imports.find_files(transfer.pk)
        if files is None:
            raise CannotChoose("files_unknown")
        indexes = {index for index, *_ in files.files}
        if not wanted or not indexes.issuperset(wanted):
            raise CannotChoose("unknown_file" if wanted else "nothing_wanted")
        unwanted = indexes.difference(wanted)
        if transfer.state == State.DONE:
            transfer = _fetch_more(locked, transfer, files, unwanted, now)
        elif transfer.chooses or unwanted != set(files.unwanted):
            _change(transfer, files, unwanted, now)
    wake_ups.wake_workers()
    return transfer


def _change(transfer: Transfer, files: TransferFiles, unwanted: set[int], now: datetime) -> None:
    files.unwanted = sorted(unwanted)
    files.save(update_fields=["unwanted"])
    if transfer.reason == states.CHOOSE_FILES:
        transfer.state, transfer.reason = State.QUEUED, ""
    transfer.choice += 1
    transfer.chooses, transfer.updated_at = False, now
    transfer.size_bytes = missing_bytes(transfer.pk)
    columns = ["state", "reason", "choice", "chooses", "size_bytes", "updated_at"]
    transfer.save(update_fields=columns)


def _fetch_more(
    locked: Account, transfer: Transfer, files: TransferFiles, unwanted: set[int], now: datetime
) -> Transfer:
    files.unwanted = sorted(unwanted - _find_present(transfer, files))
    files.save(update_fields=["unwanted"])
    existing = transfers.what_is_left(transfer, transfer.folder)
    if isinstance(existing, Transfer):
        return existing
    transfer.size_bytes = missing_bytes(transfer.pk)
    if word := quota.find_obstacle(locked, transfer.size_bytes):
        raise NoRoom if word == NoRoom.reason else CannotChoose(word)
    is_magnet = transfer.kind == Transfer.Kind.MAGNET
    link = magnets.link(transfer.info_hash_v1, transfer.info_hash_v2)
    request = transfers.request_of(transfer, transfer.source if is_magnet else link)
    more = transfers.create(transfer.folder, request, now, existing)
    if existing is None:
        imports.keep_files(more, files, files.unwanted)
    return more
