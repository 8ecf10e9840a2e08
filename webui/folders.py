"""Folders as the site shows them: from the shared store at once, from the service when due."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from django.conf import settings

from webui.connection import Service
from webui.listings import Known, Listings
from webui.pages.entries import ROOT, Snapshot
from webui.v1.errors import Failure, NotFound, TooMany, Unavailable
from webui.v1.models import Unchanged

FRESH_SECONDS = 3
WAIT_SECONDS = 8
STEP_SECONDS = 0.05
AWAY_SECONDS = 30
MOST_LEVELS = 200


class Gone(NotFound):
    """The folder is not there any more; `parent` is where it was, if anybody knows."""

    def __init__(self, parent: str) -> None:
        super().__init__("not_found", status=404)
        self.parent = parent


@dataclass(frozen=True)
class Reading:
    """`failure`: why it is no newer than it is."""

    snapshot: Snapshot
    is_fresh: bool
    failure: Failure | None = None


def store() -> Listings:
    return _store_at(settings.DATA_DIR / "listings.sqlite3")


@cache
def _store_at(path: Path) -> Listings:
    return Listings(path)


def read(service: Service, folder: str, *, now: datetime, at_once: bool = False) -> Reading:
    """Our own service is asked each time: it answers in a moment that nothing is new. A foreign
    one is asked before the page where nobody has seen the folder, we changed it ourselves, or
    the reader insists; else the page asks once behind."""
    known = store().known(service.key, folder)
    if known is None:
        return Reading(_fetched(service, folder, None), is_fresh=True)
    if service.is_embedded or at_once or known.is_changed:
        return _revalidated(service, folder, known)
    if (now - known.snapshot.read_at).total_seconds() < FRESH_SECONDS:
        return Reading(known.snapshot, is_fresh=True)
    return Reading(known.snapshot, is_fresh=False, failure=_trouble(service, now))


def _trouble(service: Service, now: datetime) -> Failure | None:
    """The service was away a moment ago: readers need not wait for that again."""
    health = service.v1.health
    if health.last_error is None or health.last_error_at is None:
        return None
    if (now - health.last_error_at).total_seconds() > AWAY_SECONDS:
        return None
    return Unavailable(health.last_error or "unknown")


def _revalidated(service: Service, folder: str, known: Known) -> Reading:
    try:
        return Reading(_fetched(service, folder, known), is_fresh=True)
    except (Unavailable, TooMany) as failure:
        return Reading(known.snapshot, is_fresh=False, failure=failure)


def _fetched(service: Service, folder: str, known: Known | None) -> Snapshot:
    """Asks for itself, or takes what somebody else, who is asking already, is told."""
    if service.is_embedded:
        return _asked(service, folder, known)
    asked_at = datetime.now(UTC)
    with store().turn(service.key, folder) as has_turn:
        if not has_turn:
            found = _awaited(service, folder, asked_at)
            if found is not None:
                return found
        return _asked(service, folder, known)


def _awaited(service: Service, folder: str, asked_at: datetime) -> Snapshot | None:
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        time.sleep(STEP_SECONDS)
        known = store().known(service.key, folder)
        if known and not known.is_changed and known.snapshot.read_at >= asked_at:
            return known.snapshot
        with store().turn(service.key, folder) as is_free:
            if is_free:
                return None
    return None


def _asked(service: Service, folder: str, known: Known | None) -> Snapshot:
    number = store().number(service.key, folder)
    try:
        found = service.v1.listing(_id_of(folder), known.etag if known else None)
    except NotFound as error:
        gone = known or store().known(service.key, folder)
        store().forget(service.key, folder)
        raise Gone(gone.snapshot.parent if gone else "") from error
    if isinstance(found, Unchanged) and known is not None:
        store().confirm(service.key, folder, number)
        return known.snapshot
    if isinstance(found, Unchanged):
        found = service.v1.listing(_id_of(folder))
    return store().keep(service.key, ROOT if found.is_root else folder, found, number)


def _id_of(folder: str) -> str | None:
    return None if folder == ROOT else folder


def path_of(service: Service, snapshot: Snapshot) -> str:
    """From the root. Where the service doesn't tell it, the folders above are opened for it."""
    if snapshot.is_root or snapshot.path != snapshot.name:
        return snapshot.path if not snapshot.is_root else ""
    names, above = [snapshot.name], snapshot
    for _level in range(MOST_LEVELS):
        above = read(service, above.parent or ROOT, now=datetime.now(UTC)).snapshot
        if above.is_root:
            break
        names.append(above.name)
    return "/".join(reversed(names))


def own_id(service: Service) -> str:
    """The root's id as the service has it: 0 is a word of ours, which not each understands."""
    read(service, ROOT, now=datetime.now(UTC))
    known = store().known(service.key, ROOT)
    return known.own_id if known else ROOT


def changed(service: Service, folders: Iterable[str]) -> None:
    """After an act of ours: the folder, and those above, whose sizes it changed."""
    touched = {ROOT, *folders}
    for folder in folders:
        known = store().known(service.key, folder)
        if known is not None:
            touched |= {above for above, _name in store().ancestors(service.key, known.snapshot)}
    store().change(service.key, sorted(touched - {""}))
