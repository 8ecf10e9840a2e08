import sys
from typing import Any

from django.core.management.base import BaseCommand

from config import preparation


class Command(BaseCommand):
    help = "Makes what Ferry needs (tables, static files, first-run link) and says where it opens."

    def handle(self, *_args: Any, **_options: Any) -> None:
        with preparation.explained():
            preparation.prepare()
            preparation.announce(sys.stdout)
