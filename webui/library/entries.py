"""The entries of a folder."""

from datetime import UTC, datetime
from typing import NamedTuple

from webui.library.kinds import (
    KIND_OF,
    MOST_SHOWN_BYTES,
    PREVIEW_OF,
    PREVIEW_OF_NAME,
    SHOWABLE,
    UNPACKABLE,
)

FOLDER, FILE = "folder", "file"
ROOT = "0"
PICTURE_PIXELS = 220
OWN_PICTURE = "own"


class Entry(NamedTuple):
    """A row of a listing, as the cache keeps it for all processes: plain values only."""

    kind: str  # FOLDER or FILE
    id: str
    name: str
    size_bytes: int | None  # None if the service doesn't say
    added: int | None  # seconds since 1970
    hash: str = ""
    picture: str = ""  # the service's link to a thumbnail; OWN_PICTURE: request it by the id
    # 0 if the service doesn't say.
    duration_seconds: int = 0
    width: int = 0
    height: int = 0
    taken: int = 0  # seconds since 1970 by the camera's clock

    @property
    def key(self) -> str:
        return f"{self.kind}-{self.id}"

    @property
    def is_folder(self) -> bool:
        return self.kind == FOLDER

    @property
    def version(self) -> str:
        """Return a version that changes with the content, so that caches may keep pictures forever.
        It only distinguishes versions of one file: whole hashes took up a quarter of a page."""
        return self.hash[:8] or f"{self.size_bytes or 0}-{self.added or 0}"

    @property
    def added_at(self) -> datetime | None:
        return None if self.added is None else datetime.fromtimestamp(self.added, UTC)

    @property
    def look(self) -> str:
        return look_of(self.name)

    @property
    def extension(self) -> str:
        return split_name(self.name)[1][1:].lower()

    @property
    def preview(self) -> str:
        """Return video, audio, picture, subtitle, markdown, table, pdf, archive, text, code, or
        none."""
        preview_kind = PREVIEW_OF.get(self.extension)
        return preview_kind or PREVIEW_OF_NAME.get(self.name.lower(), "none")

    @property
    def is_unpackable(self) -> bool:
        return not self.is_folder and self.extension in UNPACKABLE

    @property
    def is_showable_picture(self) -> bool:
        """Return whether browsers show the file itself, within reasonable time and memory."""
        return self.extension in SHOWABLE and (self.size_bytes or 0) <= MOST_SHOWN_BYTES


def look_of(name: str) -> str:
    """Return film, audio, image, captions, text, archive, or an empty string."""
    return KIND_OF.get(split_name(name)[1][1:].lower(), "")


def split_name(name: str) -> tuple[str, str]:
    """Split a name into stem and extension. An extension has at most ten letters and digits."""
    stem, dot, extension = name.rpartition(".")
    if not stem or not extension or len(extension) > 10 or not extension.isalnum():
        return name, ""
    return stem, dot + extension
