"""Numbers, sizes and dates in words, with the exact value beside them."""

from datetime import date, datetime, timedelta, tzinfo
from functools import cache

from django.utils import dateformat, formats
from django.utils.translation import get_language, ngettext, pgettext
from django.utils.translation import gettext as _

UNITS = ("KB", "MB", "GB", "TB", "PB", "EB")


def count_words(count: int) -> str:
    _decimal, thousands = separators(get_language() or "")
    return f"{count:,}".replace(",", thousands)


@cache
def separators(language: str) -> tuple[str, str]:
    """Looked up once: Django's own formatting costs more than all the rest of a row."""
    find = formats.get_format
    return find("DECIMAL_SEPARATOR", language), find("THOUSAND_SEPARATOR", language)


def items_words(count: int) -> str:
    return ngettext("%(count)s item", "%(count)s items", count) % {"count": count_words(count)}


def size_words(size_bytes: int) -> str:
    """`9.8 GB`, `612 MB`, `41 KB`: powers of ten, and no more digits than anybody reads."""
    if size_bytes < 1000:
        return exact_size(size_bytes)
    size, unit = float(size_bytes), ""
    for unit in UNITS:  # noqa: B007  The last one is used below.
        size /= 1000
        if round(size, 1) < 1000:
            break
    digits = 0 if unit == "KB" or round(size, 1) >= 100 else 1
    if round(size, digits) >= 1000:
        size, unit, digits = size / 1000, UNITS[UNITS.index(unit) + 1], 1
    decimal, _thousands = separators(get_language() or "")
    number = f"{size:.{digits}f}".removesuffix(".0")
    return f"{number} {unit}".replace(".", decimal)


def exact_size(size_bytes: int) -> str:
    words = ngettext("%(count)s byte", "%(count)s bytes", size_bytes)
    return words % {"count": count_words(size_bytes)}


class Calendar:
    """Moments as seen from `now`, in one zone. Days repeat on a page: their words are kept."""

    def __init__(self, now: datetime, zone: tzinfo) -> None:
        self._zone = zone
        self._today = now.astimezone(zone).date()
        self._words: dict[date, str] = {}
        self._exact: dict[date, str] = {}

    def words(self, moment: datetime | None) -> str:
        """`Today, 13:40`, `Yesterday`, `18 Nov`, `7 Aug 2024`."""
        if moment is None:
            return ""
        there = moment.astimezone(self._zone)
        if there.date() == self._today:
            return _("Today, %(time)s") % {"time": self.time(moment)}
        if there.date() not in self._words:
            self._words[there.date()] = self._day(there.date())
        return self._words[there.date()]

    def _day(self, day: date) -> str:
        if day == self._today - timedelta(days=1):
            return _("Yesterday")
        if day.year == self._today.year:
            return dateformat.format(
                day, pgettext("a day of this year, in Django's letters", "j M")
            )
        return dateformat.format(day, pgettext("a day of any year, in Django's letters", "j M Y"))

    def time(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%H:%M}"

    def since(self, moment: datetime) -> str:
        """`14:02`, or with its day where that is not today."""
        there = moment.astimezone(self._zone)
        day = "" if there.date() == self._today else f"{self._day(there.date())}, "
        return day + self.time(moment)

    def exact(self, moment: datetime | None) -> str:
        if moment is None:
            return ""
        there = moment.astimezone(self._zone)
        day = there.date()
        if day not in self._exact:
            words = pgettext("a day, exactly, in Django's letters", "j F Y")
            self._exact[day] = dateformat.format(day, words)
        return f"{self._exact[day]}, {there:%H:%M:%S}"

    def iso(self, moment: datetime | None) -> str:
        return "" if moment is None else moment.astimezone(self._zone).isoformat("T", "seconds")
