"""Move the files of a finished transfer from its download folder into the library."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from common.storage.outages import may_be_committed
from service.accounts.accounts import changing_transfers
from service.errors import NoRoom, NotFound, StoreAway
from service.library import bulk_insert, library
from service.library.bulk_insert import NewFile
from service.library.tree_names import TorrentTree
from service.library.upkeep.database_match import refuse_other
from service.models import Account, Transfer
from service.store.blobs import Store
from service.store.sums import Stored, Sums
from service.transfers import choices, imports
from service.transfers.download_folders import DownloadFolder, DownloadPlan
from service.transfers.imports import Imported

log = logging.getLogger("ferry.worker")


class ChoiceChanged(Exception):  # noqa: N818  Errors are nouns here.
    """People want other files than those that have arrived."""

    reason = "choice_changed"


class ImportStopped(Exception):  # noqa: N818  Errors are nouns here.
    """The worker is stopping, or the transfer was deleted or is another worker's."""


@dataclass(frozen=True)
class Job:
    transfer_id: int
    worker: str
    folder: DownloadFolder
    sums: Mapping[int, Sums]  # of the beginnings of some files, by index
    choice: int  # the number of the choice of files that has arrived
    is_seeding: bool  # seed it afterward
    now: datetime


@dataclass(frozen=True)
class ImportDone:
    transfer_id: int
    row: Transfer  # as the import wrote it


@dataclass(frozen=True)
class ImportFailed:
    transfer_id: int
    # not_enough_space, disk_full, disk_error, incomplete, choice_changed; empty to leave the run
    word: str


Outcome = ImportDone | ImportFailed


class FileImport:
    """Imports that hash and link files beside the worker's rounds, without delaying them.

    Guarantee: one transaction adds the result and ends the transfer. Before it, only blobs without
    rows exist, which this class removes, or the sweep after a crash. After it, only the download
    folder is left to remove.
    """

    def __init__(
        self, store: Store, executor: Executor, wake_up: threading.Event | None = None
    ) -> None:
        """Set `wake_up` whenever there is something to poll."""
        self._store = store
        self._executor = executor
        self._wake_up = wake_up or threading.Event()
        self._running: dict[int, Future[Outcome]] = {}
        self._share_of: dict[int, float] = {}
        self._is_over = threading.Event()

    def start(self, job: Job) -> None:
        self._share_of[job.transfer_id] = 0.0
        future = self._executor.submit(self._import, job)
        self._running[job.transfer_id] = future
        future.add_done_callback(lambda _future: self._wake_up.set())

    def is_busy_with(self, transfer_id: int) -> bool:
        return transfer_id in self._running

    def shares(self) -> dict[int, float]:
        """Return how much of each import is hashed, from 0 to 1."""
        return dict(self._share_of)

    def poll(self) -> list[Outcome]:
        over = [key for key, future in self._running.items() if future.done()]
        for key in over:
            self._share_of.pop(key)
        return [self._running.pop(key).result() for key in over]

    def hash_ahead(self, path: Path, sums: Sums, until: int) -> None:
        """Continue the sums of a file that is still arriving. Imports wait until this is done."""
        if self._store.may_hash_ahead:
            self._executor.submit(self._hash_ahead, path, sums, until)

    def aside(self, act: Callable[[], None]) -> None:
        """Run other slow work on the disk."""
        self._executor.submit(act)

    def stop(self, within_seconds: float) -> None:
        """Finish what can be finished in time: only this machine has the files."""
        wait(self._running.values(), within_seconds)
        self._is_over.set()
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _hash_ahead(self, path: Path, sums: Sums, until: int) -> None:
        """Hash ahead, and ignore disk errors, which the import will report."""
        with suppress(OSError), path.open("rb", buffering=0) as file:
            sums.hash_ahead(file, until, self._is_over)

    def _import(self, job: Job) -> Outcome:
        try:
            return self._whole_or_not(job)
        except (ImportStopped, NotFound):
            return ImportFailed(job.transfer_id, "")
        except (ChoiceChanged, NoRoom) as trouble:
            return ImportFailed(job.transfer_id, trouble.reason)
        except FileNotFoundError:
            return ImportFailed(job.transfer_id, "incomplete")
        except StoreAway:
            return ImportFailed(job.transfer_id, "disk_error")
        except Exception:
            log.exception("import failed transfer=%d", job.transfer_id)
            return ImportFailed(job.transfer_id, "disk_error")

    def _whole_or_not(self, job: Job) -> Outcome:
        refuse_other(self._store)
        plan = job.folder.plan()
        if plan is None:
            raise FileNotFoundError
        remainder, choice = imports.find_remainder(job.transfer_id), choices.read(job.transfer_id)
        if choice.number != job.choice:
            raise ChoiceChanged
        left_out = choice.unwanted.union(remainder.present_indexes if remainder else ())
        missing = {index: size for index, _path, size in plan.files if index not in left_out}
        sizes = {job.folder.file(index): size_bytes for index, size_bytes in missing.items()}
        if any(path.stat().st_size != size_bytes for path, size_bytes in sizes.items()):
            raise FileNotFoundError
        begun = {job.folder.file(index): sums for index, sums in job.sums.items()}
        stored = self._store.link_all(
            sizes, partial(self._add_progress, job, max(1, sum(sizes.values()))), begun
        )
        try:
            row = put_in_library(job, plan, dict(zip(missing, stored, strict=True)))
        except BaseException as error:
            # Rows may name the blobs; if none does, they become orphans.
            if not may_be_committed(error):
                self._store.delete_all([each.blob for each in stored])
            raise
        return ImportDone(job.transfer_id, row)

    def _add_progress(self, job: Job, total_bytes: int, piece_bytes: int) -> None:
        if self._is_over.is_set():
            raise ImportStopped
        self._share_of[job.transfer_id] += piece_bytes / total_bytes


def put_in_library(job: Job, plan: DownloadPlan, stored: Mapping[int, Stored]) -> Transfer:
    """Add the stored files to the library, and end the transfer, in one transaction.

    Raises ImportStopped, ChoiceChanged, NoRoom, TooDeep, NotFound, and FileNotFoundError if a file
    that is missing isn't stored.
    """
    transfer = Transfer.objects.filter(pk=job.transfer_id).select_related("account").first()
    if transfer is None:
        raise ImportStopped
    with changing_transfers(transfer.account, job.now) as locked:
        rows = Transfer.objects.filter(pk=job.transfer_id, leased_by=job.worker)
        # End the transfer first, so that its own title no longer counts as taken.
        if not rows.exclude(state__in=Transfer.OVER).update(state=Transfer.State.DONE):
            raise ImportStopped
        transfer = rows.get()
        if transfer.choice != job.choice:
            raise ChoiceChanged
        if plan.is_folder:
            result = insert_files(locked, transfer, plan, stored, job.now)
        else:
            result = insert_file(locked, transfer, stored[0], job.now)
        rows.update(
            **result,
            reason="",
            details=None,
            progress_percent=101,
            is_seeding=job.is_seeding,
            download_bytes_per_second=0,
            peers_sending=0,
            updated_at=job.now,
        )
        return rows.get()


def insert_files(
    locked: Account,
    transfer: Transfer,
    plan: DownloadPlan,
    stored: Mapping[int, Stored],
    now: datetime,
) -> dict[str, object]:
    parent = library.folder(locked, transfer.folder_id)
    remainder = imports.find_remainder(transfer.pk)
    present = remainder.present if remainder else ()
    depth = remainder.folder.depth if remainder else parent.depth + 1
    paths = TorrentTree(
        [path for _index, path, _size in plan.files], library.MOST_DEPTH + 1 - depth
    ).paths()
    missing = {index: path for (index, *_), path in zip(plan.files, paths, strict=True)}
    for index in choices.read(transfer.pk).unwanted.union(each.file_index for each in present):
        missing.pop(index, None)
    # The user may have deleted more files since the missing ones were stored.
    if missing.keys() - stored.keys():
        raise FileNotFoundError
    files = [NewFile(path, stored[index]) for index, path in missing.items()]
    if remainder:
        tree = bulk_insert.graft(locked, remainder.folder.pk, files, now)
    else:
        tree = bulk_insert.insert_tree(locked, parent.pk, transfer.title, files, now)
    new = [
        Imported(index, file_id, stored[index].size_bytes)
        for index, file_id in zip(missing, tree.file_ids, strict=True)
    ]
    imports.keep_record(transfer, tree.folder, [*present, *new])
    return {
        "folder_created_id": tree.folder.pk,
        "title": tree.folder.name,
        "title_key": tree.folder.name_key,
        "size_bytes": sum(each.size_bytes for each in (*present, *new)),
    }


def insert_file(
    locked: Account, transfer: Transfer, stored: Stored, now: datetime
) -> dict[str, object]:
    file = library.add_file(locked, transfer.folder_id, transfer.title, stored, now)
    return {"file_created_id": file.pk, "title": file.name, "title_key": file.name_key}
