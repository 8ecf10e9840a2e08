from typing import Any

from django.core.management.base import BaseCommand

from config.management.commands.account import make_tables
from service import credentials
from webui import activity, attempts, throttle
from webui.activity import Kind


class Command(BaseCommand):
    help = "Ends every wait after wrong passwords, links, and codes: at the site and at /rest."

    def handle(self, *_args: Any, **_options: Any) -> None:
        make_tables()
        throttle.forgive()
        attempts.forgive()
        credentials.forgive()
        activity.record_command(Kind.UNLOCKED)
        self.stdout.write("Nobody has to wait any more. Wrong passwords are counted anew.")
