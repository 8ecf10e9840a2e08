"""What was received and sent over time, as curves with their words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.translation import gettext as _

from webui.v1.own_records import PartOfTraffic
from webui.words import joining
from webui.words.formatting import rate_words

WIDTH, HEIGHT = 1_000, 100
MOMENT_SECONDS = 10
LIVELY_MS, IDLE_MS = 10_000, 30_000


@dataclass(frozen=True)
class Curve:
    received: str  # paths of an SVG
    sent: str


@dataclass(frozen=True)
class SpeedsPage:
    curve: Curve | None
    text: str
    every_ms: int


def curve_of(parts: Sequence[PartOfTraffic]) -> Curve:
    """Draw both on one scale, each as an area of steps."""
    received, sent = [each.received_bytes for each in parts], [each.sent_bytes for each in parts]
    most = max([*received, *sent, 1])
    paths = (
        steps_path([size_bytes / most for size_bytes in sizes], HEIGHT, HEIGHT, WIDTH)
        if any(sizes)
        else ""
        for sizes in (received, sent)
    )
    return Curve(*paths)


def speeds_page(parts: Sequence[PartOfTraffic]) -> SpeedsPage:
    received = max((each.received_bytes for each in parts), default=0)
    sent = max((each.sent_bytes for each in parts), default=0)
    if not received and not sent:
        return SpeedsPage(None, "", IDLE_MS)
    rates = [
        _("receiving %(rate)s") % {"rate": rate_words(received // MOMENT_SECONDS)},
        _("sending %(rate)s") % {"rate": rate_words(sent // MOMENT_SECONDS)} if sent else "",
    ]
    text = _("Peak in the last 10 minutes: %(rates)s") % {"rates": joining.items(rates)}
    return SpeedsPage(curve_of(parts), text, LIVELY_MS)


def steps_path(shares: Sequence[float], bottom: int, height: int, width: int) -> str:
    """Return an area of steps above the bottom, as short as it can be said."""
    path, end = [f"M0 {bottom}"], 0
    for share, run in groupby(shares):
        end += len(list(run))
        path.append(f"V{bottom - round(share * height)}H{width * end // len(shares)}")
    return f"{''.join(path)}V{bottom}z" if shares else ""
