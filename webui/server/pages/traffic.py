"""The page about traffic: what was received and sent in a day, a month, or a year, and by whom."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import dateformat
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from webui.transfers.pages.traffic import Curve, curve_of
from webui.v1.own_records import PartOfTraffic, TrafficPeriod
from webui.words.formatting import Calendar, size_words

PERIODS: tuple[TrafficPeriod, ...] = ("day", "month", "year")


@dataclass(frozen=True)
class TrafficRow:
    name: str
    received: str
    sent: str


@dataclass(frozen=True)
class TrafficPage:
    periods: list[tuple[str, str, bool]]  # for the URL, in words, and whether it is shown
    summary: str
    curve: Curve | None
    rows: list[TrafficRow]  # the latest first
    people: list[TrafficRow]


def traffic_page(
    period: TrafficPeriod,
    parts: Sequence[PartOfTraffic],
    people: Sequence[tuple[str, int, int]],
    calendar: Calendar,
) -> TrafficPage:
    received = sum(each.received_bytes for each in parts)
    sent = sum(each.sent_bytes for each in parts)
    words = {"day": _("24 hours"), "month": _("30 days"), "year": _("12 months")}
    summary = _("%(received)s received, %(sent)s sent")
    return TrafficPage(
        periods=[(each, words[each], each == period) for each in PERIODS],
        summary=summary % {"received": size_words(received), "sent": size_words(sent)},
        curve=curve_of(parts) if received or sent else None,
        rows=[
            row_of(part_words(period, each, calendar), each.received_bytes, each.sent_bytes)
            for each in reversed(parts)
        ],
        people=[row_of(name or _("Others"), *sizes) for name, *sizes in people],
    )


def row_of(name: str, received_bytes: int, sent_bytes: int) -> TrafficRow:
    return TrafficRow(name, size_words(received_bytes), size_words(sent_bytes))


def part_words(period: TrafficPeriod, part: PartOfTraffic, calendar: Calendar) -> str:
    if period == "day":
        return calendar.since(part.start)
    day = calendar.day_of(part.start)
    if period == "month":
        return calendar.day(day)
    return dateformat.format(day, pgettext("a month, in Django's letters", "M Y"))
