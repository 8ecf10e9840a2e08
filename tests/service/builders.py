"""Build what tests need, with a default for everything."""

import hashlib
import io
import zlib
from datetime import UTC, datetime
from itertools import count

from service.accounts import accounts
from service.library import bulk_insert, library
from service.library.bulk_insert import NewFile
from service.models import Account, File, Folder, Transfer, Wish
from service.store.disk_store import DiskStore
from service.store.sums import Stored
from service.transfers import transfers
from service.transfers.torrents import torrent_files
from service.transfers.transfers import TransferRequest

NOW = datetime(2026, 9, 1, 12, 0, tzinfo=UTC)
numbers = count(1)


def an_account(
    email: str | None = None, *, password: str | None = None, space_max_bytes: int = 10**9
) -> Account:
    return accounts.add(
        email or f"alice{next(numbers)}@example.org", password, NOW, space_max_bytes=space_max_bytes
    )


def alice(**options) -> Account:
    return an_account("alice@example.org", **options)


def mallory(**options) -> Account:
    return an_account("mallory@example.org", **options)


def stored(size_bytes: int = 10, *, blob: str | None = None) -> Stored:
    """Return what the store returns for a blob, for tests that never read the blob."""
    content = b"x" * min(size_bytes, 100)
    return Stored(
        blob=blob or f"{next(numbers):032x}",
        size_bytes=size_bytes,
        sha1=hashlib.sha1(content).hexdigest(),
        crc32=zlib.crc32(content),
    )


def put(store: DiskStore, content: bytes = b"content") -> Stored:
    return store.put(io.BytesIO(content))


def a_folder(account: Account, path: str = "Films") -> Folder:
    return library.create_folder(account, path, NOW)


def a_file(
    account: Account,
    name: str = "film.mkv",
    *,
    folder: Folder | None = None,
    size_bytes: int = 10,
    blob: Stored | None = None,
) -> File:
    folder_id = folder.pk if folder else 0
    return library.add_file(account, folder_id, name, blob or stored(size_bytes), NOW)


def a_tree(
    account: Account, name: str, paths: list[str], *, folder: Folder | None = None
) -> Folder:
    """Create a folder with a file of 10 bytes, but without a blob, at each path."""
    files = [NewFile(tuple(path.split("/")), stored()) for path in paths]
    return bulk_insert.insert_tree(account, folder.pk if folder else 0, name, files, NOW).folder


def add_torrent(
    account: Account, content: bytes, folder_id: int, now: datetime, *, chooses: bool = False
) -> Transfer:
    facts, kind = torrent_files.read(content), Transfer.Kind.TORRENT
    request = TransferRequest(kind, facts, torrent=content, chooses=chooses)
    return transfers.add(account, request, folder_id, now)


def fill_wishlist(account: Account, count: int) -> None:
    Wish.objects.bulk_create(
        Wish(
            account=account,
            folder=library.root_of(account),
            title=f"wish {number}",
            info_hash_v1=f"{number:040x}",
            size_bytes=1,
            magnet=f"magnet:?xt=urn:btih:{number:040x}",
            created_at=NOW,
        )
        for number in range(1, count + 1)
    )


def bencoded(value) -> bytes:
    match value:
        case bytes():
            return b"%d:%s" % (len(value), value)
        case str():
            return bencoded(value.encode())
        case int():
            return b"i%de" % value
        case list():
            return b"l" + b"".join(map(bencoded, value)) + b"e"
        case dict():
            items = sorted(
                (key if isinstance(key, bytes) else key.encode(), each)
                for key, each in value.items()
            )
            return b"d" + b"".join(bencoded(key) + bencoded(each) for key, each in items) + b"e"
    raise TypeError(value)


def torrent_info(name: str = "Sintel", *, files: dict[str, int] | None = None, **extra) -> dict:
    """Return a version 1 info dictionary: one file of 100 bytes, or `files` with their sizes."""
    total = sum(files.values()) if files else 100
    info = {"name": name, "piece length": 16384, "pieces": b"h" * 20 * -(-total // 16384)}
    if files:
        info["files"] = [{"path": path.split("/"), "length": size} for path, size in files.items()]
    else:
        info["length"] = total
    return info | extra


def a_torrent(name: str = "Sintel", **options) -> bytes:
    return bencoded({"announce": "http://127.0.0.1/", "info": torrent_info(name, **options)})


def magnet(digit: str = "a", name: str = "") -> str:
    return f"magnet:?xt=urn:btih:{digit * 40}" + (f"&dn={name}" if name else "")
