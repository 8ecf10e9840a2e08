"""What the site forgets by itself, so that its tables stay small."""

from datetime import datetime
from importlib import import_module

from django.conf import settings

from webui import attempts, folders, pictures
from webui.models import OneTimeLink, Selection


def prune(now: datetime) -> None:
    attempts.prune(now)
    OneTimeLink.objects.filter(expires_at__lte=now).delete()
    Selection.objects.filter(expires_at__lte=now).delete()
    folders.store().prune()
    pictures.kept().prune()
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
