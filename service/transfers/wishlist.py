"""Start torrents that didn't fit once there is enough space."""

import logging
from collections.abc import Collection
from datetime import datetime

from service.accounts.accounts import changing_transfers
from service.library import library
from service.models import Account, TorrentFile, Transfer, Wish
from service.transfers import quota, transfers
from service.transfers.torrents import torrent_files
from service.transfers.torrents.facts import TorrentFacts
from service.transfers.transfers import TransferRequest

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
        request = _request_of(wish)
        folder = library.folder(locked, wish.folder_id)
        existing = transfers.find_same(folder, request)
        if isinstance(existing, Transfer):
            transfers.remove(wish)
            return
        transfer = transfers.create(folder, request, now, existing)
    log.info("started a wish transfer=%d", transfer.pk)


def _request_of(wish: Wish) -> TransferRequest:
    contents = TorrentFile.objects.filter(wish=wish).values_list("content", flat=True)
    torrent = bytes(contents.first() or b"")
    facts = TorrentFacts(
        wish.title,
        wish.size_bytes,
        is_folder=bool(torrent) and torrent_files.read(torrent).is_folder,
        info_hash_v1=wish.info_hash_v1,
        info_hash_v2=wish.info_hash_v2,
        is_private=wish.is_private,
    )
    if torrent:
        return TransferRequest(Transfer.Kind.TORRENT, facts, torrent=torrent)
    return TransferRequest(Transfer.Kind.MAGNET, facts, source=wish.magnet)
