"""What Ferry's parts report about themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Finding:
    """What is wrong with a part of Ferry.

    Monitoring programs read the `sentence`, and owners the page's own sentences for `word`, and the
    `names`.
    """

    word: str
    sentence: str
    names: tuple[str, ...] = ()
    is_blocking: bool = True  # no one can work, or sign in


@dataclass(frozen=True)
class UnfinishedUploads:
    """What one person, or one account of the service, has begun to upload."""

    name: str  # empty for the site's own account, through which everyone uploads
    count: int
    size_bytes: int
    arrived_bytes: int | None = None


@dataclass(frozen=True)
class Report:
    findings: Mapping[str, Finding | None]  # by part; None if it works
    space: Mapping[str, int] = field(default_factory=dict)  # bytes by what uses them
    free_bytes: int | None = None
    measured_at: datetime | None = None
    uploads: tuple[UnfinishedUploads, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)  # by program
