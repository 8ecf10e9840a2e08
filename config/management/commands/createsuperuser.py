from typing import Any

from django.contrib.auth.management.commands import createsuperuser

from webui import activity
from webui.activity import Kind
from webui.models import User


class Command(createsuperuser.Command):
    """Django's own, which the owner then finds among the activity."""

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        newest = User.objects.order_by("-pk").values_list("username", flat=True).first()
        activity.record_command(Kind.OWNER_MADE, newest or "")
