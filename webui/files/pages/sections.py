"""The headings of the media view: seasons, films, days, music, and the rest."""

from datetime import UTC, date, datetime

from django.utils.translation import gettext as _

from webui.library.entries import Entry
from webui.library.episodes import Episode
from webui.library.sorting import episode_in
from webui.words.formatting import Calendar


def section_title(entry: Entry, calendar: Calendar) -> str:
    """Return the heading of the section that an entry is in; folders have none."""
    if entry.is_folder:
        return ""
    if entry.look == "film":
        episode = episode_in(entry)
        return season_title(episode) if episode else _("Films")
    if entry.look == "image":
        day = day_of(entry, calendar)
        return calendar.day(day) if day else _("Pictures")
    return _("Music") if entry.look == "audio" else _("Other files")


def day_of(entry: Entry, calendar: Calendar) -> date | None:
    """Return the day on which a picture was taken, or else added."""
    if entry.taken:
        return datetime.fromtimestamp(entry.taken, UTC).date()
    return calendar.day_of(entry.added_at) if entry.added_at else None


def season_title(episode: Episode) -> str:
    series = " ".join(map(str.capitalize, episode.series))
    if not episode.season:
        return series or _("Episodes")
    words = {"series": series, "season": episode.season}
    if not series:
        return _("Season %(season)s") % words
    return _("%(series)s, season %(season)s") % words
