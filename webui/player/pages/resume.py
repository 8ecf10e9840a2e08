"""How far a person got in a film, in words."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.player.position import Position
from webui.words.formatting import clock_words


def stopped_words(position: Position) -> str:
    at = clock_words(position.position_seconds)
    if not position.duration_seconds:
        return _("You stopped at %(time)s.") % {"time": at}
    minutes = max(round((position.duration_seconds - position.position_seconds) / 60), 1)
    remaining = ngettext("%(count)s minute left", "%(count)s minutes left", minutes)
    words = {"time": at, "left": remaining % {"count": minutes}}
    return _("You stopped at %(time)s, with %(left)s.") % words


def left_words(position: Position) -> str:
    """Return `23 min left`, or the resume position in a film of unknown length."""
    if not position.duration_seconds:
        return clock_words(position.position_seconds)
    minutes = max(round((position.duration_seconds - position.position_seconds) / 60), 1)
    return _("%(count)s min left") % {"count": minutes}


def watched_words(position: Position) -> str:
    if position.percent:
        return _("Watched %(percent)s%%") % {"percent": position.percent}
    return _("Watched") if position.is_watched else ""
