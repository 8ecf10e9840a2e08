"""The terms of a link to a page."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Terms:
    """What the person who makes a link says about it. None stands for no limit."""

    label: str = ""
    password: str = ""
    lasts: timedelta | None = None
    most_uses: int | None = None
    takes_files: bool = False
    most_bytes: int | None = None
