"""Slow down guessing without locking anyone out for good.

After some wrong passwords for one name, at one link, or from one network, the next try has to wait
a second, then two, and so on up to a minute. The wait applies to all addresses and processes, and
survives restarts. Only wrong passwords count.

A device on which the same person signed in before has a separate count, so strangers slow down only
strangers. Anyone else who has to wait gets a time reserved for their network, at which they may try
however many others guess meanwhile.

Each kind of guess has counts of its own, so that guesses at one door delay no one at another. The
address is the connection's (see host.web.front), so forged headers gain nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from common import passwords
from common.addresses.networks import network_of
from webui.http.known_devices import is_device_of
from webui.models import Reservation, Throttle, User, digest_of

FREE_BY_NAME = 10
FREE_BY_NETWORK = 20
FREE_BY_DEVICE = 20
FREE_BY_SESSION = 20
FREE_BY_SHARE = 20
LONGEST_INTERVAL = timedelta(minutes=1)
# At a link, however many networks guess. A visitor may be anywhere, and no device is known, so
# while five networks guess, a sixth waits for at most a minute.
LONGEST_INTERVAL_BY_SHARE = timedelta(seconds=10)
# After this long without a wrong password, the count starts over.
QUIET = timedelta(hours=1)
# How long a reserved time can be used.
RESERVED = timedelta(minutes=15)
# No time is reserved further ahead, so that the tables stay small.
LONGEST_AHEAD = timedelta(days=1)
# A time further in the future than this was written before the clock was set back.
SKEW = timedelta(minutes=1)

Result = TypeVar("Result")


@dataclass(frozen=True)
class ThrottleKey:
    """The key of one count of wrong passwords. Waits begin at `free` of them."""

    digest: str
    free: int
    longest: timedelta = LONGEST_INTERVAL


@dataclass(frozen=True)
class Guess:
    # A name, or a link. On a device on which this person signed in before: its key, and no network.
    target_key: ThrottleKey
    network_key: ThrottleKey | None
    network: str

    @property
    def is_known(self) -> bool:
        return self.network_key is None

    @property
    def keys(self) -> list[ThrottleKey]:
        return [self.target_key, self.network_key] if self.network_key else [self.target_key]


def guess_at(name: str, address: str, device: str | None) -> Guess:
    network = network_of(address)
    if device and is_device_of(device, name):
        return Guess(ThrottleKey(digest_of(f"device {device}"), FREE_BY_DEVICE), None, network)
    return Guess(key_for_name(name), key_for_network("sign-in", address), network)


def guess_at_share(share: int, address: str) -> Guess:
    by_share = ThrottleKey(digest_of(f"share {share}"), FREE_BY_SHARE, LONGEST_INTERVAL_BY_SHARE)
    return Guess(by_share, key_for_network("shares", address), network_of(address))


def key_for_name(name: str) -> ThrottleKey:
    """Return the key of a name in any spelling: databases differ in which letters they equate."""
    person = User.objects.filter(username__iexact=name).first()
    spelled = (person.username if person else name).casefold()
    return ThrottleKey(digest_of(f"guesses {spelled}"), FREE_BY_NAME)


def key_for_network(door: str, address: str) -> ThrottleKey:
    return ThrottleKey(digest_of(f"{door} {network_of(address)}"), FREE_BY_NETWORK)


def key_for_session(door: str, session_key: str) -> ThrottleKey:
    """Return the key for someone who found a device unlocked or stole its session. They can't keep
    the owner from changing the password elsewhere."""
    return ThrottleKey(digest_of(f"{door} in session {session_key}"), FREE_BY_SESSION)


def try_password(
    guess: Guess, password: str, check: Callable[[], Result]
) -> tuple[timedelta | None, Result | None]:
    """Return how long to wait, or what `check` returns, and count the guess if that is false.

    Raises TimeoutError. Someone who has to wait doesn't enter the queue for password checks.
    """
    if wait := wait_for(guess):
        return wait, None
    with passwords.turn(f"site {guess.target_key.digest}", password, is_known=guess.is_known):
        if wait := claim(guess):
            return wait, None
        result = check()
        if not result:
            count(guess.keys)
        return None, result


def wait_for(guess: Guess) -> timedelta | None:
    """Return how long this guess has to wait, and reserve the time at which it may be made."""
    now = timezone.now()
    if guess.network_key and (wait := _wait_of(guess.network_key, now)):
        return wait
    wait = _wait_of(guess.target_key, now)
    return _reserve(guess) if wait and not guess.is_known else wait


def claim(guess: Guess) -> timedelta | None:
    """Like `wait_for`, but for a guess that is made now, which uses up a reserved time."""
    now = timezone.now()
    if guess.network_key and (wait := _wait_of(guess.network_key, now)):
        return wait
    row_count, _by_model = _reservations(guess, now).filter(at__lte=now).delete()
    return None if row_count else wait_for(guess)


def count(keys: list[ThrottleKey]) -> None:
    """Count a wrong password. Lock the rows in a fixed order, to avoid deadlocks."""
    with transaction.atomic():
        for key in sorted(keys, key=lambda each: each.digest):
            row, now = _lock_row(key)
            _count(row, key, now)


def take(key: ThrottleKey) -> timedelta | None:
    """Count an attempt before it is checked, or return how long to wait. Of concurrent attempts,
    all count."""
    with transaction.atomic():
        row, now = _lock_row(key)
        if row.next_at > now:
            return row.next_at - now
        _count(row, key, now)
    return None


def give_back(key: ThrottleKey) -> None:
    """Uncount an attempt, since a correct password doesn't count."""
    with transaction.atomic():
        row, now = _lock_row(key)
        row.count, row.next_at = max(row.count - 1, 0), now
        row.save()


def interval(wrong: int, key: ThrottleKey) -> timedelta:
    """Return the wait between a wrong password and the next try."""
    if wrong < key.free:
        return timedelta()
    return min(timedelta(seconds=2 ** min(wrong - key.free, 10)), key.longest)


def prune(now: datetime) -> None:
    Throttle.objects.filter(since__lt=now - QUIET, next_at__lt=now).delete()
    Reservation.objects.filter(Q(at__lt=now - RESERVED) | Q(made_at__gt=now + SKEW)).delete()


def reset() -> None:
    Throttle.objects.all().delete()
    Reservation.objects.all().delete()


def _wait_of(key: ThrottleKey, now: datetime) -> timedelta | None:
    row = Throttle.objects.filter(key=key.digest).first()
    if row is None or is_over(row, now) or row.next_at <= now:
        return None
    return row.next_at - now


def is_over(row: Throttle, now: datetime) -> bool:
    is_quiet = row.since < now - QUIET and row.next_at < now
    return is_quiet or row.since > now + SKEW


def _reservations(guess: Guess, now: datetime) -> QuerySet[Reservation]:
    rows = Reservation.objects.filter(key=guess.target_key.digest, network=guess.network)
    return rows.filter(at__gt=now - RESERVED, made_at__lte=now + SKEW)


def _reserve(guess: Guess) -> timedelta | None:
    """Reserve the next free time for this network, unless it has one. Return how long to wait."""
    with transaction.atomic():
        row, now = _lock_row(guess.target_key)
        own = _reservations(guess, now).first()
        at = own.at if own else row.next_at
        if at <= now:
            return None
        if own:
            return at - now
        if at - now < LONGEST_AHEAD:
            # Those who wait are likely to be wrong, too.
            waiting = Reservation.objects.filter(key=guess.target_key.digest, at__gt=now).count()
            row.next_at += interval(row.count + waiting, guess.target_key)
            row.save()
            Reservation.objects.update_or_create(
                key=guess.target_key.digest,
                network=guess.network,
                defaults={"at": at, "made_at": now},
            )
        return at - now


def _count(row: Throttle, key: ThrottleKey, now: datetime) -> None:
    row.count += 1
    row.since = now
    row.next_at = max(row.next_at, now + interval(row.count, key))
    row.save()


def _lock_row(key: ThrottleKey) -> tuple[Throttle, datetime]:
    """Lock the row, and return it with the time at which the lock was acquired."""
    now = timezone.now()
    first = {"count": 0, "since": now, "next_at": now}
    row, _is_new = Throttle.objects.select_for_update().get_or_create(
        key=key.digest, defaults=first
    )
    now = timezone.now()
    if is_over(row, now):
        row.count, row.since, row.next_at = 0, now, now
    return row, now
