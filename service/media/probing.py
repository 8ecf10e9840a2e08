"""Probe each content once, in a child process, and keep the result in its row."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, BinaryIO

import msgspec
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from msgspec import UNSET, Meta, Struct, UnsetType

from common.storage import row_cache
from service.errors import Busy, CannotConvert
from service.media.content_folders import Content
from service.media.probe import Camera, Probed
from service.media.sandbox.children import Children, Facts
from service.media.sandbox.launcher import Failed
from service.models import Account, DeletedFile, File, Media

PROBE_SECONDS = 20.0
MOST_TRIES = 2
READ_AGAIN_AT_ONCE = 500
PLAYABLE = (Media.Kind.VIDEO, Media.Kind.AUDIO)
# When to repeat a probe that ran out of time or whose disk failed, unless someone asks before.
LATER = timedelta(hours=1)
Pixels = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Taken = Annotated[str, Meta(pattern=r"(?a)\A\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\Z")]


class ProbedFacts(Struct):
    """The columns of Media that a child sends.

    A child taken over by a hostile file may send anything, and tracks become names of folders.
    """

    kind: Media.Kind
    has_picture: bool = False
    duration_ms: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    width: Pixels | None = None
    height: Pixels | None = None
    probed: Probed | UnsetType = UNSET
    taken: Taken | UnsetType = UNSET
    camera: Camera | UnsetType = UNSET


FACTS = ProbedFacts.__struct_fields__
WRITTEN = (*FACTS, "state", "reason", "tries", "leased_until")


def probe(children: Children, media: Media, medium: BinaryIO) -> None:
    """Write what a child finds into the row, which `note` saves.

    If a child died or hung, the probe is tried once more. What a child refuses is refused for
    good. What ran out of time is put off.
    """
    media.leased_until = None
    try:
        facts = children.ask(medium.fileno(), {"do": "probe"}, PROBE_SECONDS).facts
    except Failed as failed:
        if failed.is_late:
            put_off(media)
            return
        fail(media, failed.reason, is_final=not failed.is_limit)
        return
    if not are_usual(facts):
        fail(media, "the program that reads it broke")
        return
    for name in FACTS:
        setattr(media, name, facts.get(name, getattr(media, name)))
    media.state, media.tries = Media.State.PROBED, 0


def are_usual(facts: Facts) -> bool:
    """Return whether the facts have the form that our children send."""
    try:
        msgspec.convert(facts, ProbedFacts)
    except ValueError:
        return False
    return True


def probe_now(
    children: Children, content: Content, medium: BinaryIO, note: Callable[[list[Media]], None]
) -> Media:
    """Return a content's row, probed now if need be, for someone who waits. Raises Busy."""
    media = row_of(content)
    while media.state == Media.State.WANTED:
        probe(children, media, medium)
        note([media])
        if media.leased_until is not None:
            raise Busy
    return media


def refuse_unplayable(media: Media) -> None:
    """Raise CannotConvert unless it is video or audio."""
    if media.state == Media.State.REFUSED or media.kind not in PLAYABLE:
        raise CannotConvert(media.reason or "it is neither a film nor a sound")


def fail(media: Media, reason: str, *, is_final: bool = False) -> None:
    media.tries += 1
    if is_final or media.tries >= MOST_TRIES:
        media.state, media.kind, media.reason = Media.State.REFUSED, Media.Kind.OTHER, reason


def put_off(media: Media) -> None:
    """Try again later: this failure says nothing about the media file."""
    media.leased_until = timezone.now() + LATER


def give_up_picture(media: Media, failed: Failed) -> None:
    """Record that a picture couldn't be made.

    If the file is damaged, it is never tried again; if it took too much, once more; if it ran out
    of time, whenever someone asks.
    """
    if failed.is_late:
        return
    media.tries += 1
    media.has_picture = failed.is_limit and media.tries < MOST_TRIES
    media.reason = failed.reason


def note(rows: list[Media]) -> None:
    """Save the rows in one transaction, and increment `media_revision` of accounts.

    These accounts have such files, so their listings have changed.
    """
    if not rows:
        return
    with transaction.atomic():
        # One by one: bulk_update takes nine times as long to compose its CASE expressions.
        for row in rows:
            facts = {name: getattr(row, name) for name in WRITTEN}
            Media.objects.filter(pk=row.pk).update(**facts)
        owners = File.objects.filter(media__id__in=[row.pk for row in rows]).values("account_id")
        Account.objects.filter(pk__in=owners).update(media_revision=F("media_revision") + 1)


def find_media(content: Content) -> Media | None:
    return Media.objects.filter(sha1=content.sha1, size_bytes=content.size_bytes).first()


def row_of(content: Content) -> Media:
    row, _is_new = Media.objects.get_or_create(sha1=content.sha1, size_bytes=content.size_bytes)
    return row


def without_file() -> QuerySet[Media]:
    """Return the rows of contents that no file has anymore, not even a deleted one."""
    content = {"sha1": OuterRef("sha1"), "size_bytes": OuterRef("size_bytes")}
    return Media.objects.filter(
        ~Exists(File.objects.filter(**content)), ~Exists(DeletedFile.objects.filter(**content))
    )


def lease(count: int, now: datetime, until: datetime) -> list[Media]:
    """Lease the rows that wait longest and that no other worker has."""
    wanted = Media.objects.filter(state=Media.State.WANTED)
    # An idle worker calls this every few seconds, and needn't query the database each time.
    if not row_cache.read("wanted media", wanted.exists):
        return []
    # A lease that ends after `now + LATER` was taken before the clock was set back.
    conditions = {"leased_until__gt": now, "leased_until__lte": now + LATER}
    free = wanted.exclude(**conditions)
    if not free.exists():
        # Workers also call this while others probe the rest: don't lock the database for that.
        return []
    with transaction.atomic():
        rows = list(free.order_by("pk").select_for_update(skip_locked=True)[:count])
        Media.objects.filter(pk__in=[row.pk for row in rows]).update(leased_until=until)
    return rows


def read_again(_now: datetime) -> None:
    """Queue what was probed before Ferry read cameras, SVG, and PDF: a few at a time, newest first.

    New contents come before them: queue nothing while any wait.
    """
    if Media.objects.filter(state=Media.State.WANTED).exists():
        return
    earlier = Media.objects.filter(state=Media.State.PROBED, camera__isnull=True)
    pictures = earlier.filter(kind=Media.Kind.PICTURE, has_picture=True)
    content = {"sha1": OuterRef("sha1"), "size_bytes": OuterRef("size_bytes")}
    is_drawn = Q(name__iendswith=".svg") | Q(name__iendswith=".pdf")
    drawn = Exists(File.objects.filter(is_drawn, **content))
    for rows in (pictures, earlier.filter(drawn, kind=Media.Kind.OTHER)):
        some = list(rows.order_by("-pk").values_list("pk", flat=True)[:READ_AGAIN_AT_ONCE])
        earlier.filter(pk__in=some).update(state=Media.State.WANTED)
