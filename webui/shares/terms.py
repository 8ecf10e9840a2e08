"""The terms of a link to a page."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Terms:
    """What the person who makes a link says about it. None stands for no limit."""

    label: str = ""
    password: str = ""
    lasts: timedelta | None = None
    most_uses: int | None = None
    takes_files: bool = False
    most_bytes: int | None = None

    def end(self, now: datetime) -> datetime | None:
        return None if self.lasts is None else now + self.lasts


@dataclass(frozen=True)
class NewTerms(Terms):
    """The new terms of a link, which may keep its password and its end."""

    keeps_password: bool = False
    keeps_end: bool = False
