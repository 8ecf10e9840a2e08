import sqlite3
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connection

from host.management.commands.backup import advice, describe, refuse_damage, words_of
from host.storage import backups
from host.storage.database_copies import NotWhole
from webui.activity import events

WITHOUT_KEY = """The backup has no secret_key. If Ferry got its key from SECRET_KEY, set it again.
With another key, everyone must sign in again, Ferry can't show the addresses of links made before,
and the owner must enter the password of a connected storage service again."""


class Command(BaseCommand):
    help = "Restores a backup into an empty DATA_DIR, or a copy of the database alone."
    # There is nothing to check yet.
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", type=Path, help="a folder of manage.py backup, or a file in DATA_DIR/backups"
        )

    def handle(self, *_args: Any, source: Path, **_options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError(advice())
        source = source.absolute()
        connection.close()
        try:
            if source.is_file():
                self._restore_database(source)
            else:
                self._restore_all(source)
        except (backups.BackupRefused, NotWhole, OSError, sqlite3.Error) as trouble:
            raise CommandError(words_of(trouble)) from trouble

    def _restore_all(self, source: Path) -> None:
        outcome = backups.restore(source)
        self.stdout.write(f"Restored {describe(outcome)}. Start Ferry.")
        if not (source / backups.KEY).exists():
            self.stdout.write(WITHOUT_KEY)
        events.record_command(events.Kind.RESTORED, str(source))
        refuse_damage(outcome, "Ferry can start")

    def _restore_database(self, source: Path) -> None:
        before = backups.restore_database(source)
        self.stdout.write(f"Restored the database {source.name}. Start Ferry.")
        if before is not None:
            self.stdout.write(f"The previous database is kept at {before}")
        events.record_command(events.Kind.DATABASE_RESTORED, source.name)
