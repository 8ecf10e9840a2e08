"""The library: folders and files of an account.

Whatever changes it takes ids, reads the rows anew under the account's lock, and is one
transaction. Another account's id is not found.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal, NamedTuple

from service.models import Account, File, Folder
from service.store import Stored

MOST_DEPTH = 200


class FolderRow(NamedTuple):
    id: int
    name: str
    size_bytes: int
    updated_at: datetime


class FileRow(NamedTuple):
    id: int
    name: str
    size_bytes: int
    sha1: str
    updated_at: datetime


class Listing(NamedTuple):
    folder: Folder
    path: str  # from the root, without a leading slash; "" for the root
    folders: list[FolderRow]
    files: list[FileRow]


class Entry(NamedTuple):
    """One step of a walk. `depth` is 0 for what was selected, 1 for what lies in it, and so on."""

    depth: int
    name: str
    updated_at: datetime
    blob: str | None  # None: a folder
    size_bytes: int
    crc32: int


class Planted(NamedTuple):
    """A file to be: its path below the folder that is planted, the name included."""

    path: tuple[str, ...]
    stored: Stored


def root_of(account: Account) -> Folder:
    raise NotImplementedError


def folder(account: Account, folder_id: int) -> Folder:
    """0 is the root."""
    raise NotImplementedError


def file(account: Account, file_id: int) -> File:
    raise NotImplementedError


def listing(account: Account, folder_id: int) -> Listing:
    """As many queries for 10,000 entries as for 10."""
    raise NotImplementedError


def path_of(folder: Folder) -> str:
    """Its full name: "Films/2024"; "" for the root."""
    raise NotImplementedError


def free_bytes(account: Account) -> int:
    raise NotImplementedError


def create_folder(account: Account, path: str, now: datetime) -> Folder:
    """`path` is from the root, a leading slash may stand before it; the parent must be there."""
    raise NotImplementedError


def rename_folder(account: Account, folder_id: int, name: str, now: datetime) -> Folder:
    raise NotImplementedError


def rename_file(account: Account, file_id: int, name: str, now: datetime) -> File:
    raise NotImplementedError


def delete_folder(account: Account, folder_id: int, now: datetime) -> None:
    """With all below. Transfers that were to land there land in the root."""
    raise NotImplementedError


def delete_file(account: Account, file_id: int, now: datetime) -> None:
    raise NotImplementedError


def add_file(
    account: Account,
    folder_id: int,
    name: str,
    stored: Stored,
    now: datetime,
    *,
    if_taken: Literal["refuse", "number"] = "refuse",
) -> File:
    """Raises NoRoom, NameTaken, BadName, NotFound; the blob then stays the caller's to delete."""
    raise NotImplementedError


def plant(
    account: Account, folder_id: int, name: str, files: Iterable[Planted], now: datetime
) -> Folder:
    """A new folder in `folder_id` with all its files at once: whole, or not there."""
    raise NotImplementedError


def walk(account: Account, folder_ids: Iterable[int], file_ids: Iterable[int]) -> Iterator[Entry]:
    """What was selected and all below, depth first, each once, with little memory for any tree.

    Raises NotFound before the first entry where one of the ids is no more.
    """
    raise NotImplementedError
