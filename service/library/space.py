"""How much space an account has left, and who may take it."""

from service.errors import NoRoom
from service.models import Account


def free_bytes(account: Account) -> int:
    return max(0, account.space_max_bytes - account.space_used_bytes)


def take(locked: Account, size_bytes: int) -> None:
    """Take space for a file. Raises NoRoom."""
    if size_bytes > free_bytes(locked):
        raise NoRoom
    locked.space_used_bytes += size_bytes
