"""The storage meter."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui.words import formatting

LOW_PERCENT, FULL_PERCENT = 80, 95


@dataclass(frozen=True)
class Gauge:
    free: str
    total: str
    text: str
    percent: str
    used_gb: str
    total_gb: str
    level: str


def is_short(used_bytes: int | None, total_bytes: int | None) -> bool:
    return bool(total_bytes) and (used_bytes or 0) * 100 >= FULL_PERCENT * (total_bytes or 0)


def gauge_of(used_bytes: int | None, total_bytes: int | None) -> Gauge | None:
    """Return None if the service doesn't report its storage."""
    if used_bytes is None or not total_bytes:
        return None
    percent = min(100.0, used_bytes * 100 / total_bytes)
    used, total = formatting.size_words(used_bytes), formatting.size_words(total_bytes)
    return Gauge(
        free=formatting.size_words(max(total_bytes - used_bytes, 0)),
        total=total,
        text=_("%(used)s of %(total)s used") % {"used": used, "total": total},
        percent=f"{percent:.1f}%",
        used_gb=f"{used_bytes / 1e9:.1f}",
        total_gb=f"{total_bytes / 1e9:.1f}",
        level="full" if percent >= FULL_PERCENT else "low" if percent >= LOW_PERCENT else "ok",
    )
