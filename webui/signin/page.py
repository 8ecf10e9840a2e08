"""The devices that are signed in, in words that people recognize."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from django.utils.translation import gettext as _

from webui.words import formatting
from webui.words.formatting import Calendar

MOST_DEVICES = 20
PRESENT = timedelta(minutes=10)

# The first match counts: browsers also use each other's names, so the most specific come first.
BROWSERS = (
    (r"Edg(?:e|A|iOS)?/", "Edge"),
    (r"OPR/|Opera", "Opera"),
    (r"SamsungBrowser/", "Samsung Internet"),
    (r"Vivaldi/", "Vivaldi"),
    (r"Firefox/|FxiOS/", "Firefox"),
    (r"Chrom(?:e|ium)/|CriOS/", "Chrome"),
    (r"Safari/", "Safari"),
)
SYSTEMS = (
    (r"\bTV\b|BRAVIA|SmartTV|SMART-TV|Web0S|AppleTV", "TV", "tv"),
    (r"iPad", "iPad", "tablet"),
    (r"iPhone", "iPhone", "smartphone"),
    (r"Android(?!.*Mobile)", "Android", "tablet"),
    (r"Android", "Android", "smartphone"),
    (r"CrOS", "ChromeOS", "laptop"),
    (r"Windows", "Windows", "laptop"),
    (r"Mac OS X|Macintosh", "macOS", "laptop"),
    (r"Linux|X11", "Linux", "laptop"),
)


class Signed(Protocol):
    pk: int
    session_key: str
    agent: str
    address: str
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True)
class DeviceRow:
    key: str
    name: str
    icon: str
    note: str
    note_title: str
    is_this: bool


def devices_part(
    devices: Sequence[Signed], count: int, own_key: str, calendar: Calendar, now: datetime
) -> dict[str, object]:
    rows = [device_row(device, own_key, calendar, now) for device in devices]
    rows.sort(key=lambda row: not row.is_this)
    return {
        "rows": rows,
        "more": formatting.more_words(count - len(devices)),
        "has_others": count > sum(row.is_this for row in rows),
    }


def device_row(device: Signed, own_key: str, calendar: Calendar, now: datetime) -> DeviceRow:
    name, icon = name_and_icon(device.agent)
    is_this = device.session_key == own_key
    words = {
        "when": when_words(device, is_this=is_this, calendar=calendar, now=now),
        "address": device.address,
    }
    return DeviceRow(
        key=str(device.pk),
        name=name,
        icon=icon,
        note=_("%(when)s, %(address)s") % words,
        note_title=_("Signed in %(when)s") % {"when": calendar.exact(device.first_seen_at)},
        is_this=is_this,
    )


def when_words(device: Signed, *, is_this: bool, calendar: Calendar, now: datetime) -> str:
    if is_this:
        return _("This device")
    # After the clock was set back, `last_seen_at` may be in the future.
    if now - device.last_seen_at < PRESENT:
        return _("Just now")
    return calendar.words(device.last_seen_at)


def name_and_icon(agent: str) -> tuple[str, str]:
    """Return a name such as `Firefox on Linux`, and an icon. Programs and private browsers may say
    nothing about themselves."""
    browser = next((name for pattern, name in BROWSERS if re.search(pattern, agent)), "")
    systems = ((name, icon) for pattern, name, icon in SYSTEMS if re.search(pattern, agent))
    system, icon = next(systems, ("", "laptop"))
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}, icon
    return browser or system or _("Unknown browser"), icon
