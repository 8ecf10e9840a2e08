"""A folder as the service listed it."""

from dataclasses import dataclass
from datetime import datetime

from webui.library.entries import ROOT
from webui.library.sorting import Contents


@dataclass(frozen=True)
class Snapshot:
    """A folder as the service listed it once. The same revision means the same entries and path."""

    folder: str  # "0" for the root
    name: str
    path: str
    parent: str  # "" at the root
    size_bytes: int
    space_max_bytes: int | None
    space_used_bytes: int | None
    revision: str
    read_at: datetime
    contents: Contents

    @property
    def is_root(self) -> bool:
        return self.folder == ROOT
