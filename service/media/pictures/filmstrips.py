"""Make a filmstrip of each film while the machine is idle, for those who look for a scene."""

import logging
import os
from contextlib import suppress

from django.conf import settings

from service.errors import Busy, DiskFull, NotFound, StoreAway
from service.media.cache import is_there
from service.media.content_folders import Content, StoredContent, content_of, write_durably
from service.media.pictures.pictures import is_whole
from service.media.pictures.sizes import FILMSTRIP
from service.media.sandbox.children import Children
from service.media.sandbox.job_turns import Jobs
from service.media.sandbox.launcher import Failed
from service.models import File, Media

log = logging.getLogger("ferry.media")

# Of CPU time. The child itself stops earlier.
SECONDS = 60.0
# How much of its cores an idle machine uses.
IDLE_LOAD = 0.5
# A film that can't be drawn has an empty filmstrip, so that no one tries again.
NONE = b""


def has_filmstrip(content: Content) -> bool:
    return is_there(content.picture(FILMSTRIP))


class Filmstrips:
    """The filmstrips that one worker makes, one at a time, the newest film first."""

    def __init__(self, jobs: Jobs, children: Children) -> None:
        self._jobs = jobs
        self._children = children
        self._looked_at: set[int] = set()

    def make_if_idle(self) -> bool:
        return is_idle() and self.make_next()

    def make_next(self) -> bool:
        """Make the next filmstrip, and return whether there was one to make."""
        media = self._find_next()
        if media is None:
            return False
        path = content_of(media).picture(FILMSTRIP)
        # A file may be deleted meanwhile.
        with suppress(Busy, NotFound, DiskFull, StoreAway):
            write_durably(path, self._draw(media))
        return True

    def _find_next(self) -> Media | None:
        # From an object store, each film would have to be fetched as a whole.
        if settings.STORE_URL:
            return None
        films = Media.objects.filter(kind=Media.Kind.VIDEO, state=Media.State.PROBED)
        for media in films.only("sha1", "size_bytes").order_by("-pk").iterator():
            if media.pk not in self._looked_at:
                self._looked_at.add(media.pk)
                if not content_of(media).picture(FILMSTRIP).exists():
                    return media
        return None

    def _draw(self, media: Media) -> bytes:
        """Draw a filmstrip. Raises Busy, NotFound."""
        blob = File.objects.filter(media__id=media.pk).values_list("blob", flat=True).first()
        source = StoredContent(content_of(media), blob or "")
        with source.open() as medium, self._jobs.picturing_ahead():
            try:
                answer = self._children.ask(medium.fileno(), {"do": "filmstrip"}, SECONDS)
            except Failed as failed:
                log.info("no filmstrip content=%s reason=%s", media.sha1, failed.reason)
                if failed.is_late or failed.is_limit:
                    # Perhaps the worker was stopped, so the next one tries again.
                    raise Busy from failed
                return NONE
        return next(filter(is_whole, answer.files), NONE)


def is_idle() -> bool:
    return os.getloadavg()[0] < IDLE_LOAD * (os.cpu_count() or 1)
