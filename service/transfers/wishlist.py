"""Start torrents that didn't fit once there is enough space."""

import logging
from collections.abc import Collection
from datetime import datetime

from service.accounts.accounts import changing_transfers
from service.library import library
from service.models import Account, Transfer, Wish
from service.transfers import quota, transfers

log = logging.getLogger("ferry.worker")


def take_up(now: datetime, account_ids: Collection[int] | None = None) -> None:
    """Turn the wishes that fit into transfers, in order.

    Look at these accounts only, if any are given. A wish that still doesn't fit doesn't hold up
    those behind it.
    """
    wishes = Wish.objects.order_by()
    if account_ids is not None:
        wishes = wishes.filter(account__in=account_ids)
    owners = wishes.values_list("account", flat=True).distinct()
    accounts = Account.objects.filter(pk__in=list(owners))
    for account in accounts:
        for wish in transfers.wishes(account):
            # Check before locking anything: a wish may wait for weeks.
            if quota.find_obstacle(account, wish.size_bytes) is None:
                _become_transfer(account, wish.pk, now)


def _become_transfer(account: Account, wish_id: int, now: datetime) -> None:
    with changing_transfers(account, now) as locked:
        wish = Wish.objects.filter(account=locked, pk=wish_id).first()
        if wish is None or quota.find_obstacle(locked, wish.size_bytes):
            return
        request = transfers.request_of(wish, wish.magnet)
        folder = library.folder(locked, wish.folder_id)
        existing = transfers.find_same(folder, request)
        if isinstance(existing, Transfer):
            transfers.remove(wish)
            return
        transfer = transfers.create(folder, request, now, existing)
    log.info("started a wish transfer=%d", transfer.pk)
