"""The limits of transfers, the schedule of slow speeds, and whether peers can connect, in words."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from django.utils.dates import WEEKDAYS, WEEKDAYS_ABBR
from django.utils.translation import gettext as _

from webui.limits.half_hours import PER_DAY, time_of
from webui.v1.own_records import Limits, Reachability
from webui.words.formatting import Calendar, rate_words, tenths_words
from webui.words.joining import items, sentences


@dataclass(frozen=True)
class SpeedState:
    """Which speeds apply now. `seen` changes with it."""

    seen: str
    words: str
    is_slow: bool
    is_switched: bool


# Speeds


def value_words(name: str, value: float) -> str:
    return speed_words(int(value)) if name.endswith("per_second") else tenths_words(value)


def speed_words(bytes_per_second: int) -> str:
    return rate_words(bytes_per_second) if bytes_per_second else _("no limit")


def limits_part(limits: Limits, calendar: Calendar) -> dict[str, str]:
    words = _("Download %(download)s, upload %(upload)s") % {
        "download": speed_words(limits.download_bytes_per_second),
        "upload": speed_words(limits.upload_bytes_per_second),
    }
    return {"summary": words, "speed": speed_state_words(limits, calendar)}


def speed_state(limits: Limits, calendar: Calendar) -> SpeedState:
    words = speed_state_words(limits, calendar)
    seen = crc32(f"{limits.switched_to} {words}".encode())
    return SpeedState(str(seen), words, limits.is_slow, is_switched=bool(limits.switched_to))


def speed_state_words(limits: Limits, calendar: Calendar) -> str:
    """Say what applies now and until when; nothing if it is what usually applies."""
    until = limits.changes_at or (limits.switched_until if limits.switched_to else None)
    if limits.is_slow and until:
        return slow_words(until, calendar)
    if limits.is_slow and limits.switched_to:
        return _("Slow speeds apply until an owner switches back.")
    if limits.is_slow:
        return _("Slow speeds always apply.")
    if limits.switched_to and until:
        return full_words(until, calendar)
    if limits.switched_to:
        return _("Full speed applies until an owner switches back.")
    return ""


def slow_words(until: datetime, calendar: Calendar) -> str:
    if calendar.ends_today(until):
        return _("Slow speeds apply until midnight.")
    return _("Slow speeds apply until %(time)s.") % {"time": calendar.since(until)}


def full_words(until: datetime, calendar: Calendar) -> str:
    if calendar.ends_today(until):
        return _("Full speed applies until midnight, whatever the schedule says.")
    time = {"time": calendar.since(until)}
    return _("Full speed applies until %(time)s, whatever the schedule says.") % time


# Schedule


def week_of(schedule: str) -> list[dict[str, object]]:
    return [
        {
            "name": WEEKDAYS[day],
            "short_name": WEEKDAYS_ABBR[day],
            "halves": list(halves_of(schedule, day)),
        }
        for day in range(7)
    ]


def halves_of(schedule: str, day: int) -> Iterable[tuple[int, str, bool]]:
    """Yield the number of each half hour, its label, and whether it is marked."""
    for half in range(PER_DAY):
        index = day * PER_DAY + half
        label = items((str(WEEKDAYS[day]), time_of(half)))
        yield index, label, schedule[index] == "1"


# Reachability


def reachability_part(reach: Reachability, calendar: Calendar) -> dict[str, object]:
    state, advice = reachability_words(reach)
    mapping = mapping_words(reach.mapping) if reach.port and not reach.proxy else ""
    facts = [
        (_("Port"), str(reach.port) if reach.port else ""),
        (_("Router"), mapping),
        (_("Last connection"), calendar.words(reach.incoming_at)),
    ]
    return {
        "state": state,
        "advice": advice,
        "is_well": bool(reach.reachable),
        "is_unhealthy": reach.reachable is False or not reach.port,
        "facts": [(label, value) for label, value in facts if value],
    }


def reachability_words(reach: Reachability) -> tuple[str, str]:
    """Return what is so, and what to do."""
    if reach.proxy:
        hidden = _("The setting TORRENT_PROXY hides Ferry, so only Ferry can begin connections.")
        return _("Peers can't connect to Ferry"), sentences((hidden, still_words()))
    if not reach.port:
        return _("Ferry isn't waiting for peers"), _(
            "The torrent engine isn't running, or it can't use its port. See Health, then the log."
        )
    if reach.reachable:
        return _("Peers can connect to Ferry"), ""
    if reach.reachable is None:
        return _("It's too early to say"), _(
            "Ferry will know once a peer has connected, or after ten minutes with peers."
        )
    advice = closed_words(reach.mapping) % {"port": reach.port}
    return _("Peers can't connect to Ferry"), sentences((advice, still_words()))


def still_words() -> str:
    return _("Downloads still work, but torrents with few peers are slower.")


def closed_words(mapping: str) -> str:
    if mapping == "mapped":
        return _(
            "The router forwards port %(port)s, but no one comes through. Check the firewall of "
            "this machine. If your internet connection shares its address with other customers, "
            "ask for an address of your own."
        )
    if mapping == "failed":
        return _(
            "The router didn't forward port %(port)s. Turn on UPnP in the router, or forward this "
            "port there to this machine, for TCP and UDP."
        )
    return _(
        "In the router, forward port %(port)s to this machine, for TCP and UDP. Or set "
        "TORRENT_PORT_MAPPING and restart Ferry, so that Ferry asks the router."
    )


def mapping_words(mapping: str) -> str:
    words = {
        "mapped": _("It forwards the port to Ferry."),
        "failed": _("It didn't forward the port."),
        "off": _("Ferry doesn't ask it to forward the port."),
    }
    return words.get(mapping, _("It hasn't responded yet."))
