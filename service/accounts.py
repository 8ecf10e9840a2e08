"""Accounts: who keeps files here, and how much room each has."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime

from service.models import Account


class EmailTaken(Exception):  # noqa: N818
    pass


def add(
    email: str,
    password: str | None,
    now: datetime,
    *,
    kind: Account.Kind = Account.Kind.PAID,
    space_max_bytes: int = 50 * 10**9,
) -> Account:
    """With its root folder. Without a password nobody gets in by one. Raises EmailTaken."""
    raise NotImplementedError


def find(email: str) -> Account:
    """However it is spelled in capitals. Raises NotFound."""
    raise NotImplementedError


def set_password(account: Account, password: str | None) -> None:
    """Signed links of the account die with the old one."""
    raise NotImplementedError


def set_kind(account: Account, kind: Account.Kind) -> None:
    raise NotImplementedError


def set_space(account: Account, space_max_bytes: int) -> None:
    raise NotImplementedError


def remove(account: Account, now: datetime) -> None:
    """With all it owns; the sweep takes the bytes."""
    raise NotImplementedError


def ensure_default(email: str, secret_digest: str, now: datetime) -> Account:
    """The account of the site itself, made at first run; the site's key is set anew each time."""
    raise NotImplementedError


def is_paid_now(account: Account, now: datetime, free_access_until: date) -> bool:
    raise NotImplementedError


@contextmanager
def changing_library(account: Account, now: datetime) -> Iterator[Account]:
    """One change of the library: a transaction with the account's row locked, as it is now.

    Whatever else checks names or space does so inside one of these, so that no two changes ever
    count on the same free name or the same free bytes.
    """
    raise NotImplementedError
    yield


@contextmanager
def changing_transfers(account: Account, now: datetime) -> Iterator[Account]:
    """The same for a change of its transfers."""
    raise NotImplementedError
    yield
