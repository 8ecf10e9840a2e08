"""Add, find, change, and remove accounts, and lock an account to change what it owns."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from service import notifications
from service.errors import EmailTaken, NotFound
from service.models import (
    Account,
    DeletedFile,
    DeletedFolder,
    DeletedItem,
    Discarded,
    File,
    Folder,
    KnownNetwork,
    MovedEntry,
    TorrentFile,
    Transfer,
    Wish,
)

DEFAULT_SPACE_BYTES = 50 * 10**9


def add(
    email: str,
    password: str | None,
    now: datetime,
    *,
    kind: Account.Kind = Account.Kind.PAID,
    space_max_bytes: int = DEFAULT_SPACE_BYTES,
) -> Account:
    """Add an account with its root folder; if `password` is None, none works. Raises EmailTaken."""
    account = Account(
        email=normalize_email(email),
        password=make_password(password),
        link_key=secrets.token_hex(32),
        kind=kind,
        space_max_bytes=space_max_bytes,
        changed_at=now,
        created_at=now,
    )
    try:
        with transaction.atomic():
            account.save()
            root = Folder.objects.create(account=account, updated_at=now)
            Folder.objects.filter(pk=root.pk).update(lineage=root.lineage_of(root.pk))
    except IntegrityError as duplicate:
        raise EmailTaken from duplicate
    return account


def normalize_email(email: str) -> str:
    """Return the spelling that is stored: phones capitalize the first letter of addresses."""
    return email.strip().lower()


def find(email: str) -> Account:
    """Find an account by email, ignoring case. Raises NotFound."""
    try:
        return Account.objects.get(email=normalize_email(email))
    except Account.DoesNotExist as unknown:
        raise NotFound from unknown


def set_password(account: Account, password: str | None) -> None:
    """Set the password, invalidate signed links, and forget known networks."""
    account.password = make_password(password)
    account.link_key = secrets.token_hex(32)
    account.save(update_fields=["password", "link_key"])
    KnownNetwork.objects.filter(account=account).delete()


def end_links(email: str) -> None:
    """Invalidate the account's signed links; do nothing for an unknown account."""
    Account.objects.filter(email=normalize_email(email)).update(link_key=secrets.token_hex(32))


def set_kind(account: Account, kind: Account.Kind) -> None:
    account.kind = kind
    account.save(update_fields=["kind"])


def set_keeps_deleted(account: Account, *, keeps_deleted: bool) -> None:
    account.keeps_deleted = keeps_deleted
    account.save(update_fields=["keeps_deleted"])


def set_space(account: Account, space_max_bytes: int, now: datetime) -> None:
    with changing_library(account, now) as locked:
        locked.space_max_bytes = space_max_bytes
        locked.save(update_fields=["space_max_bytes"])


def remove(account: Account, now: datetime) -> None:
    """Remove an account and all it owns; the sweep deletes the bytes."""
    with lock(account):
        Discarded.take_over(File.objects.filter(account=account), now)
        Discarded.take_over(DeletedFile.objects.filter(item__account=account), now)
        DeletedFile.objects.filter(item__account=account).delete()
        DeletedFolder.objects.filter(item__account=account).delete()
        torrents = TorrentFile.objects.filter(transfer__account=account)
        torrents |= TorrentFile.objects.filter(wish__account=account)
        torrent_ids = list(torrents.values_list("pk", flat=True))
        for model in (Transfer, Wish, File, Folder, DeletedItem, MovedEntry):
            model.objects.filter(account=account).delete()
        TorrentFile.objects.filter(pk__in=torrent_ids).delete()
        notifications.notify(account.pk)
        Account.objects.filter(pk=account.pk).delete()


def ensure_default(email: str, secret_digest: str, now: datetime) -> Account:
    """Return the site's account, which the first run adds, and update the site's key."""
    try:
        account = find(email)
    except NotFound:
        account = add(email, None, now)
    if account.secret_digest != secret_digest:
        account.secret_digest = secret_digest
        account.save(update_fields=["secret_digest"])
    return account


def is_paid_now(account: Account, now: datetime, free_access_until: date) -> bool:
    """Return whether an account has access; free ones do up to and including that day."""
    is_free_time = now.astimezone(UTC).date() <= free_access_until
    return account.kind == Account.Kind.PAID or is_free_time


@contextmanager
def changing_library(account: Account, now: datetime) -> Iterator[Account]:
    """Change the library in a transaction; yield the account's row, locked and just read.

    Every check of names or space happens in here, so that no two changes rely on the same free
    name or the same free bytes.
    """
    with lock(account) as locked:
        free_bytes = locked.space_max_bytes - locked.space_used_bytes
        yield locked
        if locked.space_max_bytes - locked.space_used_bytes > free_bytes:
            # A transfer may wait for the space.
            notifications.notify(locked.pk)
        locked.library_revision += 1
        locked.changed_at = now
        locked.save(update_fields=["space_used_bytes", "library_revision", "changed_at"])


@contextmanager
def changing_transfers(account: Account, now: datetime) -> Iterator[Account]:
    """Change the account's transfers in the same way."""
    with lock(account) as locked:
        yield locked
        notifications.notify(locked.pk)
        locked.transfers_revision += 1
        locked.changed_at = now
        locked.save(update_fields=["transfers_revision", "changed_at"])


@contextmanager
def lock(account: Account) -> Iterator[Account]:
    """Begin a transaction, and yield the account's row, locked and just read. Raises NotFound."""
    with transaction.atomic():
        locked = Account.objects.select_for_update().filter(pk=account.pk).first()
        if locked is None:
            raise NotFound
        yield locked
