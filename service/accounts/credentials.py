"""Check the email and password of HTTP Basic, which come with every call.

A correct pair is remembered for some minutes after each use, so that 1,000 calls don't cost 1,000
runs of argon2. It is remembered only for its network: elsewhere, guessers could test passwords
without their guesses being counted.
"""

import hmac
import logging
import secrets
from collections import OrderedDict
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock

from django.contrib.auth.hashers import check_password
from django.db import OperationalError

from common import passwords
from common.addresses.networks import network_of
from common.storage import row_cache
from service import signals
from service.accounts import wrong_passwords
from service.accounts.accounts import normalize_email
from service.accounts.wrong_passwords import GuessLimit
from service.errors import Busy, TooManyTries
from service.models import Account, KnownNetwork

LONGEST_PASSWORD = 1024
LIFETIME = timedelta(minutes=15)
LONGEST_LIFETIME = timedelta(days=1)
NEVER = datetime.min.replace(tzinfo=UTC)
MOST_REMEMBERED = 1000
KNOWN_LIFETIME = timedelta(days=30)
KNOWN_EVERY = timedelta(days=1)

log = logging.getLogger("ferry.rest")


def verify(email: str, password: str, address: str, now: datetime) -> Account | None:
    """Return the account, or None if the two don't match; `address` is the connection's.

    Raises TooManyTries and Busy, though never for the site's own key or a remembered pair.
    """
    email = normalize_email(email)
    account = copy(row_cache.read(("account", email), Account.objects.filter(email=email).first))
    attempt = Attempt(email, password, address, network_of(address), account, now)
    try:
        is_right = attempt.is_right()
    except TooManyTries:
        attempt.log("limited")
        raise
    if not is_right:
        attempt.log("failed")
        return None
    return account


@dataclass(frozen=True)
class Attempt:
    email: str
    password: str
    address: str
    network: str
    account: Account | None
    now: datetime

    def is_right(self) -> bool:
        if len(self.password) > LONGEST_PASSWORD:
            return False
        if is_sites_key(self.account, self.password) or self._is_remembered():
            return True
        networks = KnownNetwork.objects.filter(account=self.account, network=self.network)
        is_known = networks.filter(seen_at__gt=self.now - KNOWN_LIFETIME).exists()
        limits = wrong_passwords.limits_for(self.email, self.network, is_known=is_known)
        wrong_passwords.refuse_beyond(limits, self.now)
        try:
            with passwords.turn(f"rest {self.email}", self.password, is_known=is_known):
                return self._is_right_in_turn(limits)
        except TimeoutError as late:
            raise Busy from late

    def _is_right_in_turn(self, limits: list[GuessLimit]) -> bool:
        """Check the pair; other calls may have verified it, or reached a limit, meanwhile."""
        if self._is_remembered():
            return True
        wrong_passwords.refuse_beyond(limits, self.now)
        # An unknown name costs one run of argon2, too.
        if not check_password(self.password, self.account.password if self.account else "!"):
            wrong_passwords.count(limits, self.now)
            email = self.account.email if self.account else ""
            signals.password_failed.send(Account, email=email, address=self.address)
            return False
        if self.account:
            remembered.add(self.account, self.password, self.network, self.now)
            note_network(self.account, self.network, self.now)
        return True

    def _is_remembered(self) -> bool:
        if self.account is None:
            return False
        return remembered.use(self.account, self.password, self.network, self.now)

    def log(self, outcome: str) -> None:
        """Log a line for docs/fail2ban/, without unknown names: some are mistyped passwords."""
        name = self.account.email if self.account else "unknown"
        log.warning("%s name=%r address=%s", outcome, name, self.address)


def is_sites_key(account: Account | None, password: str) -> bool:
    secret_digest = account.secret_digest if account else ""
    return hmac.compare_digest(passwords.digest_of(password), secret_digest)


def note_network(account: Account, network: str, now: datetime) -> None:
    """Remember a network; a locked database or full disk never fails the call."""
    rows = KnownNetwork.objects.filter(account=account, network=network)
    if rows.filter(seen_at__gt=now - KNOWN_EVERY).exists():
        return
    try:
        KnownNetwork.objects.update_or_create(
            account=account, network=network, defaults={"seen_at": now}
        )
    except OperationalError as trouble:
        log.warning("network not noted: %s", trouble, extra={"trouble": trouble})


def prune(now: datetime) -> None:
    wrong_passwords.prune(now)
    KnownNetwork.objects.filter(seen_at__lt=now - KNOWN_LIFETIME).delete()


class Remembered:
    """Digests of correct pairs, in this process.

    A pair expires when it isn't used for a while, after a day, or with the account's password.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._key = secrets.token_bytes(32)
        self._times: OrderedDict[bytes, tuple[datetime, datetime]] = OrderedDict()

    def add(self, account: Account, password: str, network: str, now: datetime) -> None:
        with self._lock:
            self._times[self._digest(account, password, network)] = now, now
            if len(self._times) > MOST_REMEMBERED:
                self._times.popitem(last=False)

    def use(self, account: Account, password: str, network: str, now: datetime) -> bool:
        """Return whether the pair is remembered, and remember it for longer if so."""
        digest = self._digest(account, password, network)
        with self._lock:
            verified_at, used_at = self._times.pop(digest, (NEVER, NEVER))
            # In either direction: clocks may be set back.
            if abs(now - used_at) >= LIFETIME or abs(now - verified_at) >= LONGEST_LIFETIME:
                return False
            self._times[digest] = verified_at, max(used_at, now)
            return True

    def forget(self) -> None:
        with self._lock:
            self._times.clear()

    def _digest(self, account: Account, password: str, network: str) -> bytes:
        """Return the digest; it includes the stored hash, so a new password ends all pairs."""
        text = f"{account.pk}\0{account.password}\0{network}\0{password}"
        return hmac.digest(self._key, text.encode(errors="surrogatepass"), "sha256")


remembered = Remembered()
