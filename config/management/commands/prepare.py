import sys
from typing import Any

from django.core.management.base import BaseCommand

from config import preparation


class Command(BaseCommand):
    help = "Creates tables, static files, and the first-run link, and prints Ferry's addresses."

    def handle(self, *_args: Any, **_options: Any) -> None:
        with preparation.explain_failures():
            preparation.prepare()
            preparation.announce(sys.stdout)
