"""Detect changes that make a worker read the rows again."""

from collections.abc import Callable

from django.db.models import Count, Sum

from common.storage import row_cache
from service.models import Account

Changes = Callable[[], set[int] | None]
"""Returns the accounts that have changed since the last call, or None if any may have."""


def compare_revisions() -> Changes:
    """Return a function that compares the sum of all accounts' revisions: SQLite has few accounts.

    PostgreSQL's notifications name the account (service.transfers.wake_ups).
    """
    before: object = None

    def take_changes() -> set[int] | None:
        nonlocal before
        numbers = row_cache.read("revisions", sum_revisions)
        if numbers == before:
            return set()
        before = numbers
        return None

    return take_changes


def sum_revisions() -> dict[str, int | None]:
    sums = {"transfers": Sum("transfers_revision"), "library": Sum("library_revision")}
    return Account.objects.aggregate(**sums, accounts=Count("pk"))
