"""Delete old rows of the site, so that its tables stay small."""

from datetime import datetime, timedelta
from importlib import import_module

from django.conf import settings

from webui.activity import events
from webui.files import resumable_uploads
from webui.http import guess_limits
from webui.library import folders
from webui.models import OneTimeLink, Pairing, Selection, Sent, Share
from webui.people import pairing
from webui.previews import thumbnail_cache
from webui.search import name_index
from webui.signin import devices, throttle
from webui.transfers import poll

CLEARED_LIFETIME = timedelta(days=30)


def prune(now: datetime) -> None:
    events.prune(now)
    guess_limits.prune(now)
    throttle.prune(now)
    OneTimeLink.objects.filter(expires_at__lte=now).delete()
    Selection.objects.filter(expires_at__lte=now).delete()
    Share.objects.filter(expires_at__lte=now).delete()
    Pairing.objects.filter(expires_at__lte=now - pairing.REMEMBERED).delete()
    resumable_uploads.prune(now)
    name_index.prune(now)
    Sent.objects.filter(cleared_at__lte=now - CLEARED_LIFETIME).delete()
    folders.store().prune()
    poll.store().prune()
    thumbnail_cache.store().prune()
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    devices.prune()
