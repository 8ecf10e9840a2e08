"""The one password for other programs, which earlier versions made. Now there are tokens."""

from django.db import transaction

from common.host import host
from webui.models import ProgramPassword, User


def revoke() -> None:
    with transaction.atomic():
        host().embedded.set_password(None)
        ProgramPassword.objects.all().delete()


def end(maker: User) -> None:
    """Revoke the password if this person made it."""
    if ProgramPassword.objects.filter(user=maker).exists():
        revoke()
