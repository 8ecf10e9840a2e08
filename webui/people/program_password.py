"""The one password, set by an owner, for other programs that use Ferry's own service."""

import secrets

from django.db import transaction

from common.host import host
from webui.models import ProgramPassword, Role, User


def make(owner: User) -> str | None:
    """Return a new password, which replaces the last, or None if `owner` no longer is one."""
    with transaction.atomic():
        owners = User.objects.select_for_update().filter(role=Role.OWNER)
        if owner.pk not in set(owners.values_list("pk", flat=True)):
            return None
        password = secrets.token_urlsafe(18)
        host().embedded.set_password(password)
        ProgramPassword.objects.update_or_create(pk=1, defaults={"user": owner})
    return password


def take_away() -> None:
    with transaction.atomic():
        host().embedded.set_password(None)
        ProgramPassword.objects.all().delete()


def end(maker: User) -> None:
    """Revoke the password if this person made it."""
    if ProgramPassword.objects.filter(user=maker).exists():
        take_away()
