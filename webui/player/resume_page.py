"""How far somebody got in a film, in words."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext


@dataclass(frozen=True)
class Mark:
    position_seconds: float
    duration_seconds: float  # 0: nobody knows
    is_watched: bool

    @property
    def percent(self) -> int:
        """0 where nothing is begun; a film of unknown length is never nearly over."""
        if not self.position_seconds or not self.duration_seconds:
            return 0
        return min(max(round(100 * self.position_seconds / self.duration_seconds), 1), 99)


def clock_words(seconds: float) -> str:
    """`41:07`, `1:04:12`."""
    hours, rest = divmod(int(seconds), 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def stopped_words(mark: Mark) -> str:
    at = clock_words(mark.position_seconds)
    if not mark.duration_seconds:
        return _("You stopped at %(time)s.") % {"time": at}
    minutes = max(round((mark.duration_seconds - mark.position_seconds) / 60), 1)
    left = ngettext("%(count)s minute left", "%(count)s minutes left", minutes)
    words = {"time": at, "left": left % {"count": minutes}}
    return _("You stopped at %(time)s, with %(left)s.") % words


def left_words(mark: Mark) -> str:
    """`23 min left`, or where one stopped in a film of unknown length."""
    if not mark.duration_seconds:
        return clock_words(mark.position_seconds)
    minutes = max(round((mark.duration_seconds - mark.position_seconds) / 60), 1)
    return _("%(count)s min left") % {"count": minutes}


def watched_words(mark: Mark) -> str:
    if mark.percent:
        return _("Watched %(percent)s%%") % {"percent": mark.percent}
    return _("Watched") if mark.is_watched else ""
