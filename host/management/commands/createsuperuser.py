import os
from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from host.management.commands.account import refuse_weak
from webui.activity import events
from webui.models import User


class Command(createsuperuser.Command):
    """Django's command, which also records the new owner in Activity.

    It never accepts a weak password without asking.
    """

    def handle(self, *args: Any, **options: Any) -> None:
        password = os.environ.get("DJANGO_SUPERUSER_PASSWORD")
        if password is not None and not options["interactive"]:
            name = options["username"] or os.environ.get("DJANGO_SUPERUSER_USERNAME", "")
            refuse_weak(password, User(username=name))
        newest = User.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        super().handle(*args, **options)
        for owner in User.objects.filter(pk__gt=newest):
            events.record_command(events.Kind.OWNER_MADE, owner.username)
