"""Folders for files made from contents: `DATA_DIR/media/<sha1[:2]>/<sha1>-<size in hex>/`."""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from io import FileIO
from pathlib import Path

from django.conf import settings

from common.storage.durable import replacing
from service.errors import NotFound, StoreAway
from service.models import File, Media
from service.store.blobs import library_store
from service.store.folders import make_folder, translate_disk_full

SHA1 = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True)
class Content:
    """What files that are byte for byte the same have in common."""

    sha1: str
    size_bytes: int

    def __post_init__(self) -> None:
        """Check both, since they become a path. Raises ValueError."""
        if not SHA1.fullmatch(self.sha1) or self.size_bytes < 0:
            raise ValueError(self)

    @property
    def folder(self) -> Path:
        return media_folder() / self.sha1[:2] / f"{self.sha1}-{self.size_bytes:x}"

    def picture(self, name: str) -> Path:
        """Return a picture's path; `name` is one of service.media.pictures.sizes."""
        return self.folder / name


def content_of(row: File | Media) -> Content:
    return Content(row.sha1, row.size_bytes)


@dataclass(frozen=True)
class StoredContent:
    """A content, and the blob that has its bytes."""

    content: Content
    blob: str

    @property
    def path(self) -> Path:
        """A file with the bytes. Raises NotFound."""
        return library_store().on_disk(self.blob)

    def open(self) -> FileIO:
        """Open that file for a child. Raises NotFound, even if it is deleted just now."""
        try:
            return open(self.path, "rb", buffering=0)
        except FileNotFoundError as missing:
            raise NotFound from missing


def media_folder() -> Path:
    return Path(settings.DATA_DIR) / "media"


def scratch_folder() -> Path:
    """Return the folder in which programs run. What they leave there is of no use."""
    folder = media_folder() / "scratch"
    make_folder(folder)
    return folder


def write_durably(path: Path, content: bytes) -> None:
    """Write a file atomically, even in a power cut: half a picture would stay. Raises DiskFull."""
    with translate_disk_full():
        make_folder(path.parent)
        with replacing(path, by_many=True) as draft:
            draft.write_bytes(content)


def write_and_publish(path: Path, content: bytes) -> None:
    write_durably(path, content)
    publish(path)


def publish(path: Path) -> None:
    """Publish a file to other machines. If the store is away, they make it again."""
    with suppress(StoreAway):
        library_store().publish(path)


def publish_again(path: Path) -> None:
    """Publish a file that another machine misses: the store was away, or has dropped it since."""
    # It may be deleted from the cache now; then it is made again.
    with suppress(StoreAway, FileNotFoundError):
        if not library_store().is_published(path):
            library_store().publish(path)


def contents() -> Iterator[Content]:
    """Yield the contents that have a folder."""
    for folder in media_folder().glob("[0-9a-f][0-9a-f]/*"):
        with suppress(ValueError):
            yield content_named(folder.name)


def content_named(name: str) -> Content:
    """Return the content whose folder has this name. Raises ValueError."""
    sha1, _, size = name.partition("-")
    return Content(sha1, int(size, 16))


def changed_at(content: Content) -> float:
    """Return when the folder changed, in seconds since 1970; now if it is gone."""
    try:
        return content.folder.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def forget(content: Content) -> None:
    shutil.rmtree(content.folder, ignore_errors=True)
    library_store().unpublish(content.folder)


def clear_scratch(before: datetime) -> None:
    """Delete what killed programs left before that time."""
    for entry in scratch_folder().iterdir():
        with suppress(FileNotFoundError):
            if entry.is_file() and entry.stat().st_mtime < before.timestamp():
                entry.unlink()
