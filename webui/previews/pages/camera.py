"""The date, the camera, and the settings of a picture, in words."""

from datetime import UTC, datetime

from django.utils import dateformat
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from webui.library.entries import Entry
from webui.v1.own_records import Camera
from webui.words.formatting import measure_words
from webui.words.joining import day_and_time

LONGEST_FRACTION_SECONDS = 0.3  # longer exposures are whole or tenths of seconds


def camera_words(entry: Entry, camera: Camera) -> str:
    """Return `1 July 2024, 11:22 · Canon EOS R6 · 35 mm · 1/250 s · f/2.8 · ISO 200`."""
    parts = [
        taken_words(entry.taken) if entry.taken else "",
        camera.model,
        camera.lens,
        setting(_("%(number)s mm"), camera.focal_length_mm),
        exposure_words(camera.exposure_seconds),
        setting(_("f/%(number)s"), camera.aperture),
        setting(_("ISO %(number)s"), round(camera.iso)),
    ]
    return " · ".join(filter(None, parts))


def taken_words(taken: int) -> str:
    moment = datetime.fromtimestamp(taken, UTC)
    words = pgettext("a day, exactly, in Django's letters", "j F Y")
    return day_and_time(dateformat.format(moment, words), f"{moment:%H:%M}")


def setting(words: str, number: float) -> str:
    return words % {"number": measure_words(number)} if number else ""


def exposure_words(seconds: float) -> str:
    if not seconds:
        return ""
    if seconds < LONGEST_FRACTION_SECONDS:
        return _("1/%(number)s s") % {"number": round(1 / seconds)}
    return _("%(number)s s") % {"number": measure_words(seconds)}
