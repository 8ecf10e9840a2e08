"""The password for other programs that use Ferry's own service: one, set by an owner."""

import secrets

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from webui.models import ProgramPassword, Role, User


def make(owner: User) -> str | None:
    """Return a new password, which takes the place of the last; None for an owner no longer."""
    with transaction.atomic():
        owners = User.objects.select_for_update().filter(role=Role.OWNER)
        if owner.pk not in set(owners.values_list("pk", flat=True)):
            return None
        password = secrets.token_urlsafe(18)
        import_string(settings.V1_PASSWORD_SETTER)(password)
        ProgramPassword.objects.update_or_create(pk=1, defaults={"user": owner})
    return password


def take_away() -> None:
    with transaction.atomic():
        import_string(settings.V1_PASSWORD_SETTER)(None)
        ProgramPassword.objects.all().delete()


def end(maker: User) -> None:
    """Take the password away that this person made."""
    if ProgramPassword.objects.filter(user=maker).exists():
        take_away()
