"""The page about traffic: what was received and sent in a day, a month, or a year, and by whom."""

from collections.abc import Iterable, Sequence

from django.utils import dateformat
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from webui.transfers.pages.traffic import curve_of
from webui.v1.own_records import PartOfTraffic, TrafficPeriod
from webui.words.formatting import Calendar, size_words

PERIODS: tuple[TrafficPeriod, ...] = ("day", "month", "year")


def traffic_page(
    period: TrafficPeriod,
    parts: Sequence[PartOfTraffic],
    people: Sequence[tuple[str, int, int]],
    calendar: Calendar,
) -> dict[str, object]:
    received = size_words(sum(each.received_bytes for each in parts))
    sent = size_words(sum(each.sent_bytes for each in parts))
    words = {"day": _("24 hours"), "month": _("30 days"), "year": _("12 months")}
    rows = (
        (part_words(period, each, calendar), each.received_bytes, each.sent_bytes)
        for each in reversed(parts)
    )
    return {
        # For the URL, in words, and whether it is shown.
        "periods": [(each, words[each], each == period) for each in PERIODS],
        "summary": _("%(received)s received, %(sent)s sent") % {"received": received, "sent": sent},
        "curve": curve_of(parts),
        "rows": in_words(rows),
        "people": in_words((name or _("Others"), got, given) for name, got, given in people),
    }


def in_words(rows: Iterable[tuple[str, int, int]]) -> list[tuple[str, str, str]]:
    return [(name, size_words(received), size_words(sent)) for name, received, sent in rows]


def part_words(period: TrafficPeriod, part: PartOfTraffic, calendar: Calendar) -> str:
    if period == "day":
        return calendar.since(part.start)
    day = calendar.day_of(part.start)
    if period == "month":
        return calendar.day(day)
    return dateformat.format(day, pgettext("a month, in Django's letters", "M Y"))
