"""What Ferry's parts report about themselves. The site learns it through a setting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Finding:
    """What is wrong with a part of Ferry.

    Strangers read the `sentence`, so it holds nothing secret. Owners read words of the page's own,
    found by `word`, and the `names`.
    """

    word: str
    sentence: str
    names: tuple[str, ...] = ()
    is_blocking: bool = True  # nobody can work, or sign in


@dataclass(frozen=True)
class Report:
    findings: Mapping[str, Finding | None]  # by part; None: it is well
    space: Mapping[str, int] = field(default_factory=dict)  # bytes by what uses them
    free_bytes: int | None = None
    measured_at: datetime | None = None


def report() -> Report:
    found: Report = import_string(settings.HEALTH)()
    return found
