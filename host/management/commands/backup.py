import sqlite3
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from host.storage import backups, running
from host.storage.backups import Outcome
from host.storage.database_copies import NotWhole
from webui.activity import events

MOST_NAMES = 5
WAYS = {"linked": "linked", "cloned": "cloned", "copied": "copied", "kept": "there already"}
INSTEAD = """The database is no SQLite file, so its own tools back it up. In this order:
  1. Set BLOB_GRACE to more seconds than step 3 takes, and start Ferry again.
  2. pg_dump --format=custom --file=BACKUP/ferry.dump DATABASE
  3. rsync --archive {data}/library {data}/secret_key BACKUP/
The files come last: what people delete meanwhile stays for BLOB_GRACE. To restore, stop Ferry,
bring both folders and secret_key back into an empty DATA_DIR without library/generation, and run
pg_restore --dbname=DATABASE BACKUP/ferry.dump"""
WITH_OBJECTS = """The database and the object store have their own tools. In this order:
  1. Set BLOB_GRACE to more seconds than steps 2 and 3 take, and start Ferry again.
  2. pg_dump --format=custom --file=BACKUP/ferry.dump DATABASE
  3. Copy all objects below blobs/ in the bucket that are new: none ever changes.
Keep SECRET_KEY as well. To restore, stop Ferry, restore lost objects, and run
pg_restore --clean --if-exists --dbname=DATABASE BACKUP/ferry.dump"""


class Command(BaseCommand):
    help = "Backs up everything that Ferry keeps into a folder, also while Ferry runs."
    # System checks would load the whole site.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "target", type=Path, help="a folder; where it has a backup, only what is new is copied"
        )
        parser.add_argument(
            "--verify",
            action="store_true",
            help="read every copy again, name the damaged ones, and replace them",
        )

    def handle(self, *_args: Any, target: Path, verify: bool, **_options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError(advice())
        target = target.absolute()
        running.refuse_half_restored()
        try:
            outcome = backups.back_up(target, is_verifying=verify)
        except (backups.BackupRefused, NotWhole, OSError, sqlite3.Error) as trouble:
            raise CommandError(f"Nothing was backed up: {words_of(trouble)}") from trouble
        events.record_command(events.Kind.BACKED_UP, str(target))
        self.stdout.write(f"Backed up {describe(outcome)}, to {target}.")
        if outcome.ways.get("linked"):
            self.stdout.write(
                "It is on the disk of DATA_DIR, so it doesn't help when that disk breaks."
            )
        if (settings.HOME / ".env").exists():
            self.stdout.write("Keep .env as well: it isn't in DATA_DIR.")
        refuse_damage(outcome, "Restore them from an older backup, or delete them")


def advice() -> str:
    """Say how to back up, and restore, what Ferry can't copy itself."""
    return WITH_OBJECTS if settings.STORE_URL else INSTEAD.format(data=settings.DATA_DIR)


def describe(outcome: Outcome) -> str:
    ways = ", ".join(f"{count} {WAYS[way]}" for way, count in sorted(outcome.ways.items()))
    size = backups.gigabytes(outcome.size_bytes)
    return f"{outcome.files} files, {size}{f' ({ways})' if ways else ''}"


def refuse_damage(outcome: Outcome, advice: str) -> None:
    if outcome.damaged:
        names = backups.names_of(outcome.damaged[:MOST_NAMES])
        raise CommandError(
            f"All files but {len(outcome.damaged)} are intact. Missing or damaged: "
            f"{', '.join(names)}{' …' if len(outcome.damaged) > len(names) else ''}. {advice}."
        )


def words_of(trouble: Exception) -> str:
    if isinstance(trouble, OSError) and trouble.strerror:
        return f"{trouble.strerror}: {trouble.filename}" if trouble.filename else trouble.strerror
    return str(trouble)
