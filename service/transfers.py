"""Transfers: what is wanted, written down. The worker makes it true."""

from datetime import datetime

from service.models import Account, Transfer, Wish
from service.store import Stored

MOST_WISHES = 100


def listed(account: Account) -> list[Transfer]:
    """Running and failed ones; those that are done became files."""
    raise NotImplementedError


def get(account: Account, transfer_id: int) -> Transfer:
    """Also one that is done. Raises NotFound."""
    raise NotImplementedError


def wishes(account: Account) -> list[Wish]:
    raise NotImplementedError


def add_magnet(account: Account, uri: str, folder_id: int, now: datetime) -> Transfer:
    """The same torrent again is the same transfer. Raises BadMagnet, NotFound, NotNow."""
    raise NotImplementedError


def add_torrent(account: Account, content: bytes, folder_id: int, now: datetime) -> Transfer:
    """Raises NotATorrent, NotFound, NotNow."""
    raise NotImplementedError


def add_url(account: Account, url: str, folder_id: int, now: datetime) -> Transfer:
    """A magnet is taken as one. Raises BadAddress, BadMagnet, NotFound, NotNow."""
    raise NotImplementedError


def record_upload(
    account: Account, name: str, stored: Stored, folder_id: int, now: datetime
) -> Transfer:
    """A file that is here already: done, with its id as `file_created_id`. Raises NoRoom."""
    raise NotImplementedError


def delete(account: Account, transfer_id: int, now: datetime) -> None:
    """Never touches what is in a folder already."""
    raise NotImplementedError
