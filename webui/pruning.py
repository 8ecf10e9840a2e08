"""What the site forgets by itself, so that its tables stay small."""

from datetime import datetime, timedelta
from importlib import import_module

from django.conf import settings

from webui import activity, attempts, devices, folders, pairing, pictures, throttle, transfers
from webui.models import OneTimeLink, Pairing, Selection, Sent, Share

CLEARED_LIFETIME = timedelta(days=30)


def prune(now: datetime) -> None:
    activity.prune(now)
    attempts.prune(now)
    throttle.prune(now)
    OneTimeLink.objects.filter(expires_at__lte=now).delete()
    Selection.objects.filter(expires_at__lte=now).delete()
    Share.objects.filter(expires_at__lte=now).delete()
    Pairing.objects.filter(expires_at__lte=now - pairing.REMEMBERED).delete()
    Sent.objects.filter(cleared_at__lte=now - CLEARED_LIFETIME).delete()
    folders.store().prune()
    transfers.store().prune()
    pictures.kept().prune()
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    devices.prune()
