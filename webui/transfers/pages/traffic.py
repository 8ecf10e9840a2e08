"""What was received and sent over time, as curves with their words."""

from collections.abc import Sequence
from itertools import groupby

from django.utils.translation import gettext as _

from webui.v1.own_records import PartOfTraffic
from webui.words import joining
from webui.words.formatting import rate_words

WIDTH, HEIGHT = 1_000, 100
MOMENT_SECONDS = 10
LIVELY_MS, IDLE_MS = 10_000, 30_000


def curve_of(parts: Sequence[PartOfTraffic]) -> dict[str, str]:
    """Draw both on one scale, each as an area of steps. What is 0 throughout has none."""
    sizes = {
        "received": [each.received_bytes for each in parts],
        "sent": [each.sent_bytes for each in parts],
    }
    most = max([*sizes["received"], *sizes["sent"], 0])
    return {
        name: steps_path([each / most for each in some], HEIGHT, HEIGHT)
        for name, some in sizes.items()
        if any(some)
    }


def speeds_page(parts: Sequence[PartOfTraffic]) -> dict[str, object]:
    peaks = [
        (_("receiving %(rate)s"), max((each.received_bytes for each in parts), default=0)),
        (_("sending %(rate)s"), max((each.sent_bytes for each in parts), default=0)),
    ]
    rates = [
        words % {"rate": rate_words(most_bytes // MOMENT_SECONDS)}
        for words, most_bytes in peaks
        if most_bytes
    ]
    return {
        "curve": curve_of(parts),
        "text": _("Peak in the last 10 minutes: %(rates)s") % {"rates": joining.items(rates)},
        "every_ms": LIVELY_MS if rates else IDLE_MS,
    }


def steps_path(shares: Sequence[float], bottom: int, height: int) -> str:
    """Return an area of steps above the bottom, as short as it can be said."""
    path, end = [f"M0 {bottom}"], 0
    for share, run in groupby(shares):
        end += len(list(run))
        path.append(f"V{bottom - round(share * height)}H{WIDTH * end // len(shares)}")
    return f"{''.join(path)}V{bottom}z" if shares else ""
