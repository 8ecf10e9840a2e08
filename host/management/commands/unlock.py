from typing import Any

from django.core.management.base import BaseCommand

from host.management.commands.account import make_tables
from service.accounts import wrong_passwords
from webui.activity import events
from webui.signin import throttle


class Command(BaseCommand):
    help = "Lifts all limits after wrong passwords, links, and codes, on the site and at /rest."
    requires_system_checks = ()

    def handle(self, *_args: Any, **_options: Any) -> None:
        make_tables()
        throttle.reset()
        wrong_passwords.reset()
        events.record_command(events.Kind.UNLOCKED)
        self.stdout.write("All limits are lifted.")
