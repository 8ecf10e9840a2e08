import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from host import preparation


class Command(BaseCommand):
    help = "Creates tables, static files, and the first-run link, and prints Ferry's addresses."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--new-key", action="store_true", help="accept that SECRET_KEY has changed"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        with preparation.explain_failures():
            preparation.prepare(is_key_new=options["new_key"])
            preparation.announce(sys.stdout)
