from collections.abc import Callable, Iterable
from datetime import date, datetime
from itertools import groupby
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from config.embedded import upstream
from host.storage import database_copies, running
from host.storage.backups import gigabytes
from service.accounts import accounts
from service.errors import NoRoom, NotFound
from service.library.upkeep import recovery
from service.library.upkeep.database_match import Doubt, doubt_about, identity
from service.library.upkeep.recovery import Recovered
from service.models import Account
from service.store.blobs import Orphan, Store, StoredBlob, library_store
from webui.activity import events

STATES = {
    Doubt.BEHIND: "The database is older than the library.",
    Doubt.FOREIGN: "The library was filled by another database.",
    Doubt.MISSING: "The library is missing: it has no mark. Mount its disk, and start Ferry again. "
    "If its files are lost, or were copied without their mark, run manage.py library claim.",
    None: "The database knows the whole library.",
}


class Command(BaseCommand):
    help = "Handles files that the database doesn't know: those of a newer database, and orphans."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        add_account(actions.add_parser("adopt", help="put the newer files into a folder"))
        actions.add_parser("discard", help="move the newer files to the orphans")
        actions.add_parser("list", help="name the newer files and the orphans")
        restore = actions.add_parser("restore", help="put orphans into a folder")
        restore.add_argument("ids", nargs="*", metavar="ID", help="as listed; without one, all")
        add_account(restore)
        actions.add_parser("delete", help="delete all orphans now")
        actions.add_parser("claim", help="use a library that has lost its mark, or is empty")

    def handle(self, *_args: Any, **options: Any) -> None:
        act, kind = ACTIONS[options["action"]]
        for line in act(library_store(), options):
            self.stdout.write(line)
        if kind:
            events.record_command(kind, options.get("account", ""))


def add_account(parser: CommandParser) -> None:
    parser.add_argument("--account", default=upstream.EMBEDDED_ACCOUNT, metavar="EMAIL")


def adopt(store: Store, options: dict[str, Any]) -> list[str]:
    return put_back(store, blobs_in_doubt(store), options["account"])


def discard(store: Store, _options: dict[str, Any]) -> list[str]:
    blobs = blobs_in_doubt(store)
    count = recovery.discard(store, blobs, timezone.now())
    summary = f"Moved {count_files(count)}, {gigabytes(sizes(blobs))}, to the orphans"
    return [f"{summary}, where they stay for {settings.ORPHAN_DAYS} days."]


def restore(store: Store, options: dict[str, Any]) -> list[str]:
    ids = set(options["ids"])
    orphans = [each for each in store.orphans() if not ids or each.blob in ids]
    unknown = ids - {each.blob for each in orphans}
    if unknown:
        raise CommandError(f"No orphan {min(unknown)}; manage.py library list names them all.")
    if doubt := doubt_about(store):
        decision = (
            "" if doubt is Doubt.MISSING else " First run manage.py library adopt or discard."
        )
        raise CommandError(STATES[doubt] + decision)
    account = account_of(options["account"])
    if sizes(orphans) > account.space_max_bytes - account.space_used_bytes:
        raise CommandError(no_room(account, sizes(orphans)))
    for each in orphans:
        store.bring_back(each)
    blobs = [StoredBlob(each.blob, each.written_at, each.size_bytes) for each in orphans]
    return put_back(store, blobs, options["account"])


def list_all(store: Store, _options: dict[str, Any]) -> list[str]:
    doubt = doubt_about(store)
    lines = [STATES[doubt]]
    if doubt is Doubt.MISSING:
        return lines
    if doubt:
        newer = recovery.find_unnamed(store, until_when())
        lines.append(
            f"It doesn't know {count_files(len(newer))}, {gigabytes(sizes(newer))}. "
            "Run manage.py library adopt or discard."
        )
    orphans = list(store.orphans())
    lines.append(f"Orphans: {count_files(len(orphans))}, {gigabytes(sizes(orphans))}.")
    for since, those in groupby(orphans, key=lambda each: each.since):
        lines.append(f"Moved there on {since}:")
        lines += [
            f"  {each.blob}  {gigabytes(each.size_bytes)}  written {each.written_at:%Y-%m-%d %H:%M}"
            for each in those
        ]
    return lines


def delete(store: Store, _options: dict[str, Any]) -> list[str]:
    size_bytes = sizes(store.orphans())
    count = store.drop_orphans(date.max)
    return [f"Deleted {count_files(count)}, {gigabytes(size_bytes)}."]


def claim(store: Store, _options: dict[str, Any]) -> list[str]:
    if doubt_about(store) is not Doubt.MISSING:
        raise CommandError("The library has its mark: nothing to claim.")
    store.hand_over(identity())
    return ["The library belongs to this database now. Restart Ferry: it checks every file."]


def blobs_in_doubt(store: Store) -> list[StoredBlob]:
    doubt = doubt_about(store)
    if doubt is Doubt.MISSING:
        raise CommandError(STATES[doubt])
    if doubt is None:
        raise CommandError("The database knows all of the library's files: nothing to decide.")
    return recovery.find_unnamed(store, until_when())


def until_when() -> datetime:
    """Return when Ferry was started, or now: later blobs may belong to a running upload."""
    return running.running_since() or timezone.now()


def put_back(store: Store, blobs: list[StoredBlob], email: str) -> list[str]:
    account = account_of(email)
    now = timezone.now()
    folder = f"Recovered {timezone.localdate(now)}"
    names = recovery.names_in(database_copies.list_kept(), [each.blob for each in blobs])
    try:
        results = recovery.put_in_folders(
            store, blobs, names=names, otherwise=account, folder=folder, now=now
        )
    except NoRoom:
        raise CommandError(no_room(account, sizes(blobs))) from None
    return [line_of(each) for each in results] or ["There was nothing to restore."]


def line_of(result: Recovered) -> str:
    size = gigabytes(result.size_bytes)
    files = count_files(result.count)
    return f"Put {files}, {size}, into the folder {result.folder!r} of {result.email}."


def count_files(count: int) -> str:
    return "1 file" if count == 1 else f"{count} files"


def account_of(email: str) -> Account:
    try:
        return accounts.find(email)
    except NotFound:
        raise CommandError(f"No account {email}.") from None


def no_room(account: Account, size_bytes: int) -> str:
    return (
        f"These files take {gigabytes(size_bytes)}, and {account.email} has less left. "
        f"Allow more with: manage.py account space {account.email} 100GB"
    )


def sizes(blobs: Iterable[StoredBlob] | Iterable[Orphan]) -> int:
    return sum(each.size_bytes for each in blobs)


Act = Callable[[Store, dict[str, Any]], Iterable[str]]
ACTIONS: dict[str, tuple[Act, events.Kind | None]] = {
    "adopt": (adopt, events.Kind.FILES_ADOPTED),
    "discard": (discard, events.Kind.FILES_DISCARDED),
    "list": (list_all, None),
    "restore": (restore, events.Kind.ORPHANS_RESTORED),
    "delete": (delete, events.Kind.ORPHANS_DELETED),
    "claim": (claim, None),
}
