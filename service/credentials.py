"""Who asks: e-mail and password of HTTP Basic, which come with every single call.

A pair that was right is remembered for some minutes, under a key that only this process knows,
so that 1,000 calls do not cost 1,000 runs of argon2. Tries that need such a run are counted
before it, by address and name and by address alone, so that many at once count as many; who was
right is not counted. The counts live in each process: with two, a stranger has twice the tries.
"""

import hashlib
import hmac
import ipaddress
import secrets
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Lock

from django.contrib.auth.hashers import check_password

from service.accounts import spelled
from service.errors import TooManyTries
from service.models import Account

LONGEST_PASSWORD = 1024
LIFETIME = timedelta(minutes=5)
WINDOW = timedelta(minutes=15)
MOST_BY_ADDRESS_AND_NAME = 20
MOST_BY_ADDRESS = 100
MOST_REMEMBERED = 1000
MOST_COUNTED = 10_000
# Each takes 19 MiB and a core; the others wait.
hashing = BoundedSemaphore(4)


def verify(email: str, password: str, address: str, now: datetime) -> Account | None:
    """The account, or None where the two do not match; `address` is the connection's.

    Raises TooManyTries, though never for the site's own key or a pair that was right lately.
    """
    if len(password) > LONGEST_PASSWORD:
        return None
    account = Account.objects.filter(email=spelled(email)).first()
    if is_sites_key(account, password):
        return account
    if account and remembered.knows(account, password, now):
        return account
    limits = limits_for(email, address)
    tries.take(limits, now)
    if not is_right(account, password):
        return None
    tries.give_back(limits)
    if account:
        remembered.add(account, password, now)
    return account


def is_sites_key(account: Account | None, password: str) -> bool:
    digest = hashlib.sha256(password.encode(errors="surrogatepass")).hexdigest()
    known = account.secret_digest if account else ""
    return hmac.compare_digest(digest, known)


def is_right(account: Account | None, password: str) -> bool:
    """Takes the time of one run of argon2 for an unknown name, too."""
    with hashing:
        return check_password(password, account.password if account else "!")


@dataclass(frozen=True)
class Limit:
    key: str
    most: int


def limits_for(email: str, address: str) -> list[Limit]:
    network = network_of(address)
    return [
        Limit(f"{network} {spelled(email)[:254]}", MOST_BY_ADDRESS_AND_NAME),
        Limit(network, MOST_BY_ADDRESS),
    ]


def network_of(address: str) -> str:
    """One home or host: a whole /64 of IPv6 is handed to anyone who asks."""
    try:
        # A link-local address carries the name of the interface: fe80::1%eth0.
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    prefix = 64 if ip.version == 6 else 32
    return str(ipaddress.ip_network(f"{ip}/{prefix}", strict=False))


class Tries:
    """How many wrong ones lately. The oldest is forgotten first where there are too many."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: OrderedDict[str, tuple[datetime, int]] = OrderedDict()

    def take(self, limits: list[Limit], now: datetime) -> None:
        with self._lock:
            waits = [wait for limit in limits if (wait := self._wait(limit, now))]
            if waits:
                raise TooManyTries(max(waits))
            for limit in limits:
                since, count = self._recent(limit.key, now)
                self._counts[limit.key] = since, count + 1
            while len(self._counts) > MOST_COUNTED:
                self._counts.popitem(last=False)

    def give_back(self, limits: list[Limit]) -> None:
        """Only this one: whoever has an account must not clear the count of their guesses."""
        with self._lock:
            for limit in limits:
                if limit.key in self._counts:
                    since, count = self._counts[limit.key]
                    self._counts[limit.key] = since, max(0, count - 1)

    def forget(self) -> None:
        with self._lock:
            self._counts.clear()

    def _wait(self, limit: Limit, now: datetime) -> timedelta | None:
        since, count = self._recent(limit.key, now)
        return since + WINDOW - now if count >= limit.most else None

    def _recent(self, key: str, now: datetime) -> tuple[datetime, int]:
        """Either way: of many at once each has its own now, and clocks are set back."""
        since, count = self._counts.get(key, (now, 0))
        return (since, count) if abs(now - since) < WINDOW else (now, 0)


class Remembered:
    """Pairs that were right, as digests; one dies with its time or with the account's password."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._key = secrets.token_bytes(32)
        self._until: OrderedDict[bytes, datetime] = OrderedDict()

    def add(self, account: Account, password: str, now: datetime) -> None:
        with self._lock:
            self._until[self._digest(account, password)] = now + LIFETIME
            while len(self._until) > MOST_REMEMBERED:
                self._until.popitem(last=False)

    def knows(self, account: Account, password: str, now: datetime) -> bool:
        with self._lock:
            until = self._until.get(self._digest(account, password))
        return until is not None and now < until

    def forget(self) -> None:
        with self._lock:
            self._until.clear()

    def _digest(self, account: Account, password: str) -> bytes:
        """The stored hash is part of it: no pair outlives a change of the password."""
        text = f"{account.pk}\0{account.password}\0{password}"
        return hmac.digest(self._key, text.encode(errors="surrogatepass"), "sha256")


tries = Tries()
remembered = Remembered()
