"""Format numbers, sizes, and dates in words, with the exact value beside them."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from typing import Self

from django.utils import dateformat, formats, timezone
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

from webui.words.joining import day_and_time

NAME_BREAKS = re.compile(r"(?<=[._-])(?=[^._-])")
# A translation for each of 10,000 rows would take longer than the rest of a row.
TIME = "\0"


def name_parts(name: str) -> tuple[str, ...]:
    """Split a name where a line may break."""
    return tuple(NAME_BREAKS.split(name))


def count_words(count: int) -> str:
    _decimal, thousands = separators(get_language() or "")
    return f"{count:,}".replace(",", thousands)


@cache
def separators(language: str) -> tuple[str, str]:
    """Cache the separators: Django's own formatting costs more than all the rest of a row."""
    find = formats.get_format
    return find("DECIMAL_SEPARATOR", language), find("THOUSAND_SEPARATOR", language) or ","


def items_words(count: int) -> str:
    return ngettext("%(count)s item", "%(count)s items", count) % {"count": count_words(count)}


def devices_words(count: int) -> str:
    return ngettext("%(count)s device", "%(count)s devices", count) % {"count": count_words(count)}


def tenths_words(number: float) -> str:
    """Return `1.5`, or `1` if there are no tenths."""
    decimal, _thousands = separators(get_language() or "")
    return f"{number:.1f}".removesuffix(".0").replace(".", decimal)


def measure_words(number: float) -> str:
    """Return `12800`, `28`, `2.8`, or `0.35`: no more digits than a camera shows."""
    decimal, _thousands = separators(get_language() or "")
    return f"{number:.3g}".replace(".", decimal) if number < 100 else f"{number:.0f}"


def more_words(left_out: int) -> str:
    """Return the words below a shortened list: `and 3 more`."""
    if left_out <= 0:
        return ""
    words = ngettext("and %(count)s more", "and %(count)s more", left_out)
    return words % {"count": count_words(left_out)}


def size_words(size_bytes: int | None) -> str:
    """Return `9.8 GB`, `612 MB`, `41 KB`: powers of ten, and no more digits than people read."""
    if size_bytes is None:
        return _("size unknown")
    if size_bytes < 1000:
        return exact_size(size_bytes)
    language = get_language() or ""
    size, unit, digits = float(size_bytes), "", 0
    for step, unit in enumerate(units(language)):  # noqa: B007  The last one is used below.
        size /= 1000
        digits = 0 if not step or round(size, 1) >= 100 else 1
        if round(size, digits) < 1000:
            break
    decimal, _thousands = separators(language)
    number = f"{size:.{digits}f}".removesuffix(".0")
    return f"{number} {unit}".replace(".", decimal)


def rate_words(bytes_per_second: int) -> str:
    return _("%(size)s/s") % {"size": size_words(bytes_per_second)}


@cache
def units(_language: str) -> list[str]:
    return pgettext("units of size, each a thousand of the one before", "KB MB GB TB PB EB").split()


def sum_words(sizes: Iterable[int | None]) -> str:
    """Return `9.8 GB`, or `at least 9.8 GB` if some sizes are unknown."""
    all_sizes = list(sizes)
    total = sum(size for size in all_sizes if size is not None)
    if None not in all_sizes:
        return size_words(total)
    return _("at least %(size)s") % {"size": size_words(total)} if total else size_words(None)


def exact_size(size_bytes: int | None) -> str:
    if size_bytes is None:
        return size_words(None)
    words = ngettext("%(count)s byte", "%(count)s bytes", size_bytes)
    return words % {"count": count_words(size_bytes)}


def progress_words(done_bytes: int, size_bytes: int) -> str:
    """Return `2.5 of 4.1 GB`, with the unit only once if both sizes share it."""
    part, size = size_words(done_bytes), size_words(size_bytes)
    if part.rpartition(" ")[2] == size.rpartition(" ")[2]:
        part = part.rpartition(" ")[0]
    return _("%(done)s of %(size)s") % {"done": part, "size": size}


def short_time(seconds: int) -> str:
    """Return `5 min` or `1 h 58 min`, rounded up, since no one minds an early finish."""
    minutes = max(-(-seconds // 60), 1)
    if minutes < 60:
        return _("%(minutes)s min") % {"minutes": minutes}
    hours, rest = divmod(minutes, 60)
    if not rest or hours >= 24:
        return _("%(hours)s h") % {"hours": hours}
    return _("%(hours)s h %(minutes)s min") % {"hours": hours, "minutes": rest}


def duration_words(seconds: int) -> str:
    """Return the length of a film or piece of music: `1 h 4 min`, `4 min 11 s`, or `40 s`."""
    if seconds >= 3600:
        return short_time(round(seconds / 60) * 60)
    minutes, rest = divmod(seconds, 60)
    words = {"minutes": minutes, "seconds": rest}
    if not minutes:
        return _("%(seconds)s s") % words
    return _("%(minutes)s min %(seconds)s s") % words if rest else short_time(seconds)


def long_time(seconds: int) -> str:
    """Return `12 minutes`, `2 hours`, or `3 days`."""
    minutes = max(-(-seconds // 60), 1)
    if minutes < 60:
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    if minutes < 48 * 60:
        hours = round(minutes / 60)
        return ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}
    days = round(minutes / 60 / 24)
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}


def ago_words(past: timedelta) -> str:
    """Return `just now`, `20 seconds ago`, or `3 days ago`."""
    seconds = int(past.total_seconds())
    if seconds < 1:
        return _("just now")
    if seconds < 60:
        words = ngettext("%(count)s second ago", "%(count)s seconds ago", seconds)
        return words % {"count": seconds}
    if seconds < 3600:
        minutes = seconds // 60
        words = ngettext("%(count)s minute ago", "%(count)s minutes ago", minutes)
        return words % {"count": minutes}
    if seconds < 86_400:
        hours = seconds // 3600
        return ngettext("%(count)s hour ago", "%(count)s hours ago", hours) % {"count": hours}
    days = seconds // 86_400
    return ngettext("%(count)s day ago", "%(count)s days ago", days) % {"count": days}


class Calendar:
    """Words for moments as seen from `now`, in one time zone. Days repeat on a page, so cached."""

    def __init__(self, now: datetime, zone: tzinfo) -> None:
        self._zone = zone
        self._today = now.astimezone(zone).date()
        self._words: dict[date, str] = {}
        self._exact: dict[date, str] = {}

    @classmethod
    def now(cls) -> Self:
        """Return a calendar as seen from this moment, in the reader's time zone."""
        return cls(timezone.now(), timezone.get_current_timezone())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calendar) and self._sight == other._sight

    def __hash__(self) -> int:
        return hash(self._sight)

    @property
    def _sight(self) -> tuple[date, tzinfo]:
        """Return everything except the language that the words depend on."""
        return self._today, self._zone

    def words(self, moment: datetime | None) -> str:
        """Return `Today, 13:40`, `Yesterday`, `18 Nov`, or `7 Aug 2024`."""
        if moment is None:
            return ""
        day = self.day_of(moment)
        if day == self._today:
            return _("Today, %(time)s") % {"time": self.time(moment)}
        if day not in self._words:
            self._words[day] = self._day(day)
        return self._words[day]

    def day(self, day: date) -> str:
        """Return `Today`, `Yesterday`, `18 Nov`, or `7 Aug 2024`."""
        return _("Today") if day == self._today else self._day(day)

    def day_of(self, moment: datetime) -> date:
        return moment.astimezone(self._zone).date()

    def _day(self, day: date) -> str:
        if day == self._today - timedelta(days=1):
            return _("Yesterday")
        if day.year == self._today.year:
            return dateformat.format(
                day, pgettext("a day of this year, in Django's letters", "j M")
            )
        return dateformat.format(day, pgettext("a day of any year, in Django's letters", "j M Y"))

    @property
    def day_number(self) -> int:
        return self._today.toordinal()

    def moment(self, seconds: float) -> str:
        """Return `13:40` for a Unix time of today, else its day."""
        moment = datetime.fromtimestamp(seconds, UTC)
        return self.time(moment) if self.day_of(moment) == self._today else self.words(moment)

    def time(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%H:%M}"

    def since(self, moment: datetime) -> str:
        """Return `14:02`, with the day unless it is today."""
        day = self.day_of(moment)
        if day == self._today:
            return self.time(moment)
        return day_and_time(self._day(day), self.time(moment))

    def ends_today(self, moment: datetime) -> bool:
        """Return whether this is the midnight after today."""
        is_next = self.day_of(moment) == self._today + timedelta(days=1)
        return is_next and self.time(moment) == "00:00"

    def exact(self, moment: datetime | None) -> str:
        if moment is None:
            return ""
        there = moment.astimezone(self._zone)
        day = there.date()
        if day not in self._exact:
            words = pgettext("a day, exactly, in Django's letters", "j F Y")
            self._exact[day] = day_and_time(dateformat.format(day, words), TIME)
        return self._exact[day].replace(TIME, f"{there:%H:%M:%S}")

    def to_the_minute(self, moment: datetime) -> str:
        """Return the exact time without the seconds, which no one needs."""
        return self.exact(moment).rpartition(":")[0]

    def iso(self, moment: datetime | None) -> str:
        return "" if moment is None else moment.astimezone(self._zone).isoformat("T", "seconds")


def role_words(role: str) -> str:
    words = {
        "guest": pgettext("a role", "Guest"),
        "member": pgettext("a role", "Member"),
        "owner": pgettext("a role", "Owner"),
    }
    return words[role]


def clock_words(seconds: float) -> str:
    """Return `41:07` or `1:04:12`."""
    hours, rest = divmod(int(seconds), 3600)
    minutes, remainder = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{remainder:02}" if hours else f"{minutes}:{remainder:02}"
