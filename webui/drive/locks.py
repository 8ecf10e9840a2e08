"""Locks by which programs keep each other from changing a path. They end by themselves."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from uuid import uuid4
from xml.etree import ElementTree as ET

from django.db import transaction
from django.utils import timezone

from webui.drive.bodies import DAV, xml_of
from webui.drive.refusals import Refused
from webui.models import DriveLock, Role, User

LONGEST_SECONDS, USUAL_SECONDS = 3600, 600
MOST_LOCKS = 100
LONGEST_OWNER = 300
SECONDS = re.compile(r"Second-([0-9]{1,9})", re.IGNORECASE)


def lock_in(root: ET.Element, depth: str, timeout: str) -> DriveLock:
    """Return the lock that a program wants, without its path and person."""
    scope, owner = root.find(f"{DAV}lockscope"), root.find(f"{DAV}owner")
    is_lock = root.tag == f"{DAV}lockinfo" and root.find(f"{DAV}locktype") is not None
    text = "" if owner is None else xml_of(owner).strip()
    if scope is None or not is_lock or len(text) > LONGEST_OWNER:
        raise Refused(400)
    return DriveLock(
        token=f"opaquelocktoken:{uuid4()}",
        is_shared=scope.find(f"{DAV}shared") is not None,
        is_deep=depth == "infinity",
        owner=text,
        seconds=seconds_in(timeout),
    )


def seconds_in(timeout: str) -> int:
    """Return the first time that a Timeout header names, within our limit. Endless is too long."""
    match = SECONDS.search(timeout)
    if match:
        return max(1, min(int(match[1]), LONGEST_SECONDS))
    return LONGEST_SECONDS if "infinite" in timeout.lower() else USUAL_SECONDS


def of_service(service: str) -> list[DriveLock]:
    """Return the locks that have not ended."""
    rows = DriveLock.objects.filter(service=service, expires_at__gt=timezone.now())
    return list(rows.order_by("pk"))


def covering(active: Iterable[DriveLock], path: str) -> list[DriveLock]:
    """Return the locks on a path: its own, and those of folders above with all below them."""
    return [
        each for each in active if each.path == path or (each.is_deep and is_below(path, each.path))
    ]


def inside(active: Sequence[DriveLock], path: str) -> list[DriveLock]:
    """Return the locks on a path, and on all below it."""
    return covering(active, path) + [each for each in active if is_below(each.path, path)]


def is_below(path: str, above: str) -> bool:
    return path != above and path.startswith(f"{above.rstrip('/')}/")


def add(row: DriveLock) -> None:
    """Lock a path. Raises Refused if another lock is in the way."""
    now = timezone.now()
    row.expires_at = now + timedelta(seconds=row.seconds)
    with transaction.atomic():
        # One row for all people, so that of two locks at once, the second finds the first.
        User.objects.select_for_update(no_key=True).order_by("pk").first()
        prune(now)
        active = of_service(row.service)
        if sum(each.user_id == row.user_id for each in active) >= MOST_LOCKS:
            raise Refused(507)
        others = inside(active, row.path) if row.is_deep else covering(active, row.path)
        if any(not (each.is_shared and row.is_shared) for each in others):
            raise Refused(423, condition="no-conflicting-lock")
        row.save()


def refresh(
    service: str, path: str, tokens: Collection[str], timeout: str, user: User
) -> DriveLock:
    """Extend the person's lock whose token the program sends."""
    active = covering(of_service(service), path)
    own = [each for each in active if each.user_id == user.pk and each.token in tokens]
    if not own:
        raise Refused(412, condition="lock-token-matches-request-uri")
    own[0].seconds = seconds_in(timeout)
    own[0].expires_at = timezone.now() + timedelta(seconds=own[0].seconds)
    own[0].save(update_fields=["seconds", "expires_at"])
    return own[0]


def unlock(service: str, path: str, token: str, user: User) -> None:
    """End a lock of the person, or, for an owner, of anyone."""
    own = [each for each in covering(of_service(service), path) if each.token == token]
    if not own:
        raise Refused(409, condition="lock-token-matches-request-uri")
    if own[0].user_id != user.pk and not Role(user.role).includes(Role.OWNER):
        raise Refused(403)
    own[0].delete()


def forget(service: str, path: str) -> None:
    """End the locks of a path that is gone, and of all below it."""
    gone = [each.pk for each in of_service(service) if f"{each.path}/".startswith(f"{path}/")]
    DriveLock.objects.filter(pk__in=gone).delete()


def prune(now: datetime) -> None:
    DriveLock.objects.filter(expires_at__lte=now).delete()


def refuse_locked(needed: Iterable[DriveLock], tokens: Collection[str], user: User) -> None:
    """Raise Refused unless the program has the token of each lock, or one of those that share a
    path."""
    has_one: dict[str, bool] = defaultdict(bool)
    for each in needed:
        has_one[each.path] |= each.token in tokens and each.user_id == user.pk
    if not all(has_one.values()):
        raise Refused(423, condition="lock-token-submitted")
