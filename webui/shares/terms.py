from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Terms:
    """What the person who makes a link says about it. None stands for no limit."""

    label: str
    password: str
    expires_at: datetime | None
    most_uses: int | None
    takes_files: bool
    most_bytes: int | None
