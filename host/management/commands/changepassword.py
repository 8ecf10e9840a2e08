from getpass import getuser
from typing import Any

from django.contrib.auth.management.commands import changepassword

from webui.activity import events


class Command(changepassword.Command):
    """Django's command, which also records the change in Activity."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        output = super().handle(*args, **options)
        events.record_command(events.Kind.PASSWORD_CHANGED, options["username"] or getuser())
        return output
