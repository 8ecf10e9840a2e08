from getpass import getuser
from typing import Any

from django.contrib.auth.management.commands import changepassword

from webui.activity import events
from webui.activity.events import Kind


class Command(changepassword.Command):
    """Django's own, which the owner then finds among the activity."""

    def handle(self, *args: Any, **options: Any) -> str | None:
        said = super().handle(*args, **options)
        events.record_command(Kind.PASSWORD_CHANGED, options["username"] or getuser())
        return said
