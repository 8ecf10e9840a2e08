import logging
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import Error as DatabaseError

from common.storage import locks
from host.storage import object_storage, outage_log, running
from host.storage.backups import gigabytes
from service.errors import DiskFull, StoreAway
from service.library.upkeep.database_match import doubt_about, generation_of_database, identity
from service.models import File, Worker
from service.store.blobs import Store, library_store, store_at
from service.store.copies import FAILED, CopyResult, Progress, StoreCopy

DISK = "disk"
SECONDS_PER_LINE = 10.0
INTERRUPTED = 3
AGAIN = "To continue where it left off, run this command again."
ADVICE = {
    CopyResult.MISSING: "Their bytes are lost already: restore them from a backup, or "
    "delete the files",
    CopyResult.CHANGED: "They were not copied. Restore them from a backup; or, to keep them "
    "as they are now, download and upload them again",
    CopyResult.REPLACED: "Check that store, then run this command with --verify again",
    CopyResult.DAMAGED: "Check that store, then run this command with --verify again",
}


class Command(BaseCommand):
    help = "Copies the bytes of all files to another store, also while Ferry runs."
    # System checks would load the whole site.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        copy = actions.add_parser("copy", help="copy what the target doesn't have")
        copy.add_argument(
            "target", help=f"s3://bucket/prefix?endpoint=https://host, or {DISK} for DATA_DIR"
        )
        copy.add_argument(
            "--verify", action="store_true", help="read every copy again, and compare its hash"
        )

    def handle(self, *_args: Any, target: str, verify: bool, **_options: Any) -> None:
        url = "" if target == DISK else target
        refuse_unusable(url)
        # A fork for the test would stay if this process were killed.
        object_storage.refuse_unfit(url, may_fork=False)
        # Each attempt would log a line.
        logging.getLogger("ferry.store").setLevel(logging.ERROR)
        with locks.alone(Path(settings.DATA_DIR) / "store-copy.lock") as is_alone:
            if not is_alone:
                raise CommandError("Another copy is running.")
            self._copy(url, library_store(), store_at(url), is_verifying=verify)

    def _copy(self, url: str, source: Store, target: Store, *, is_verifying: bool) -> None:
        copy: StoreCopy | None = None
        try:
            refuse_strangers(source, target)
            was_running = is_running()
            copy = StoreCopy(source, target, Reporter(self).report, is_verifying=is_verifying)
            copy.run()
            target.reach_generation(generation_of_database())
            orphans = sum(1 for _orphan in source.orphans())
        except KeyboardInterrupt:
            raise interruption("Interrupted", copy) from None
        except StoreAway:
            raise interruption("The object store doesn't answer", copy) from None
        except DiskFull:
            raise interruption("The disk is full. Free some space on it", copy) from None
        except (OSError, DatabaseError) as trouble:
            if kind := outage_log.outage_in(trouble):
                raise interruption(outage_log.ADVICE[kind], copy) from None
            raise
        self.stdout.write(summary(copy.progress, is_verifying=is_verifying))
        if orphans:
            self.stdout.write(
                f"Orphans aren't copied: {orphans}. To keep some, first put them into a folder "
                "with manage.py library restore."
            )
        refuse_failures(copy.progress)
        self.stdout.write(next_step(url, is_ferry_running=was_running or is_running()))


def refuse_unusable(url: str) -> None:
    if url and not find_spec("obstore"):
        raise CommandError("An object store needs the Python package obstore.")
    if url == settings.STORE_URL or (url and bucket_of(url) == bucket_of(settings.STORE_URL)):
        raise CommandError("Ferry keeps its files there already; name the store to copy them to.")


def bucket_of(url: str) -> object:
    # Only an object store needs this.
    from service.store.objects.bucket import Bucket  # noqa: PLC0415

    try:
        return Bucket.of(url, os.environ) if url else None
    except (ValueError, LookupError, OSError):
        raise CommandError(
            f"TARGET must be {DISK}, or s3://bucket/prefix?endpoint=https://host, with "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        ) from None


def refuse_strangers(source: Store, target: Store) -> None:
    if doubt_about(source):
        raise CommandError("First run manage.py library adopt or discard.")
    if not target.claim_for(identity()):
        raise CommandError("The target has the files of another database; name an empty one.")


def is_running() -> bool:
    """Return whether Ferry runs on this machine, or a worker of it on another."""
    return running.running_since() is not None or Worker.alive().exists()


def interruption(cause: str, copy: StoreCopy | None) -> CommandError:
    done = f"{files_of(copy.progress)} are done. " if copy else ""
    return CommandError(f"{cause}. {done}{AGAIN}", returncode=INTERRUPTED)


class Reporter:
    """Lines for a person who waits."""

    def __init__(self, command: BaseCommand) -> None:
        self._command = command
        self._began_at = self._written_at = time.monotonic()

    def report(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._written_at >= SECONDS_PER_LINE:
            self._written_at = now
            self._command.stdout.write(self._line(progress, now - self._began_at))
            self._command.stdout.flush()

    def _line(self, progress: Progress, seconds: float) -> str:
        line = files_of(progress)
        if progress.is_waiting:
            return f"{line}; the object store doesn't answer, trying again"
        if progress.pass_number > 1:
            return f"{line}; looking for what arrived meanwhile"
        bytes_per_second = progress.read_bytes / seconds
        if bytes_per_second < 1:
            return line
        left_bytes = max(0, progress.total_bytes - progress.size_bytes)
        minutes = left_bytes / bytes_per_second / 60
        return f"{line}, {bytes_per_second / 10**6:.1f} MB/s, about {minutes:,.0f} min left"


def files_of(progress: Progress) -> str:
    return (
        f"{progress.files:,} of {progress.total_files:,} files, {gigabytes(progress.size_bytes)} "
        f"of {gigabytes(progress.total_bytes)}"
    )


def file_count(files: int) -> str:
    return "1 file" if files == 1 else f"{files:,} files"


def summary(progress: Progress, *, is_verifying: bool) -> str:
    new, earlier = progress.copied[CopyResult.NEW], progress.copied[CopyResult.KEPT]
    size = gigabytes(progress.copied_bytes)
    text = f"Copied {file_count(new)}, {size}; already there: {file_count(earlier)}."
    return f"{text} All copies were read again." if is_verifying else text


def refuse_failures(progress: Progress) -> None:
    """Fail if any file isn't at the target, or the target had damaged one."""
    lines = [
        f"{kind.capitalize()}: {file_count(count)}{examples(progress, kind)}. {ADVICE[kind]}."
        for kind in (*FAILED, CopyResult.REPLACED)
        if (count := progress.copied[kind])
    ]
    if lines:
        raise CommandError("\n".join(lines))


def examples(progress: Progress, kind: CopyResult) -> str:
    blobs = progress.examples.get(kind, [])
    names = [*File.objects.filter(blob__in=blobs).order_by("pk").values_list("name", flat=True)]
    more = ", …" if progress.copied[kind] > len(names) else ""
    return f" ({', '.join(names)}{more})" if names else ""


def next_step(url: str, *, is_ferry_running: bool) -> str:
    switch = f"set STORE_URL={url}" if url else "remove STORE_URL from the settings"
    if is_ferry_running:
        return (
            "Ferry is running, so more files may arrive. To switch, stop Ferry everywhere, run "
            f"this command again, {switch}, and start Ferry."
        )
    return f"Everything is there. Now {switch}, and start Ferry."
