"""Delete old rows of the site, so that its tables stay small."""

from datetime import datetime
from importlib import import_module

from django.conf import settings

from webui.activity import events
from webui.archives import selections as archive_selections
from webui.drive import locks
from webui.library import folders
from webui.models import Notice
from webui.people import pairing
from webui.previews import thumbnail_cache
from webui.search import name_index
from webui.shares import links
from webui.signin import devices, one_time_links, throttle
from webui.transfers import actions, poll
from webui.uploads import resumable as resumable_uploads


def prune(now: datetime) -> None:
    events.prune(now)
    throttle.prune(now)
    one_time_links.prune(now)
    archive_selections.prune(now)
    links.prune(now)
    locks.prune(now)
    pairing.prune(now)
    resumable_uploads.prune(now)
    name_index.prune(now)
    actions.prune(now)
    Notice.prune(now)
    folders.store().prune()
    poll.store().prune()
    thumbnail_cache.store().prune()
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    devices.prune()
