"""The player of one film: its sources, how far a person got, and what comes next."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library import episodes
from webui.library.addresses import Addresses, image_url, raw_url, thumb_url
from webui.library.entries import Entry, split_name
from webui.library.snapshot import Snapshot
from webui.player import neighbors
from webui.player.position import Position
from webui.v1.links import Link
from webui.v1.own_records import Filmstrip, Scenes
from webui.words import formatting
from webui.words.formatting import clock_words

# What browsers may play without conversion; each browser says whether it can.
TYPES = {"mp4": "video/mp4", "m4v": "video/mp4", "mov": "video/mp4", "webm": "video/webm"}
TYPES |= {"ogv": "video/ogg", "mkv": "video/x-matroska", "3gp": "video/3gpp"}
# Preloaded together: otherwise a browser finds each import only when the previous module arrives.
PARTS = (
    "copying",
    "media-session",
    "times",
    "player/choices",
    "player/main",
    "previews/viewer",
)
MODULES = tuple(f"js/{part}.js" for part in PARTS)
SPEEDS = tuple(
    (speed, f"{speed}\N{MULTIPLICATION SIGN}") for speed in ("0.5", "0.75", "1", "1.25", "1.5", "2")
)


@dataclass(frozen=True)
class NearbyFilm:
    name: str
    label: str  # "Episode 4" if its name says so
    url: str


def player_page(
    snapshot: Snapshot, entry: Entry, at: Addresses, position: Position | None
) -> dict[str, object]:
    """Describe the player. `original_type` is empty if no browser plays the original. The film
    `runs_on` if the next one is the next episode of the series."""
    before, after = neighbors.films_around(snapshot, entry)
    title = split_name(entry.name)[0]
    begun = position if position and position.position_seconds else None
    return {
        "title": title,
        "folder": snapshot.folder,
        "file": entry.id,
        "poster_url": image_url(at, entry) if thumb_url(entry, at, by_kind=False) else "",
        "original_url": raw_url(at, entry.id),
        "original_type": TYPES.get(entry.extension, ""),
        "size": formatting.size_words(entry.size_bytes),
        "is_watched": bool(position and position.is_watched),
        "resume": begun,
        "resume_at": clock_words(begun.position_seconds) if begun else "",
        "resume_text": stopped_words(begun) if begun else "",
        "previous": nearby_film(before, at),
        "next": nearby_film(after, at),
        "runs_on": bool(after and episodes.is_next_episode(title, split_name(after.name)[0])),
        "speeds": SPEEDS,
        "modules": MODULES,
    }


def nearby_film(entry: Entry | None, at: Addresses) -> NearbyFilm | None:
    if entry is None:
        return None
    stem = split_name(entry.name)[0]
    episode = episodes.episode_of(stem)
    if episode and episode.is_called_so:
        label = _("Episode %(number)s") % {"number": episode.number}
    else:
        label = stem
    return NearbyFilm(stem, label, at.preview(entry.key))


def scenes(facts: Scenes, *, has_filmstrip: bool) -> Mapping[str, Any]:
    """Describe chapters and filmstrip. A chapter without a title has its number."""
    chapters = [
        {"at": each.start, "title": each.title or _("Chapter %(number)s") % {"number": number}}
        for number, each in enumerate(facts.chapters, 1)
    ]
    strip = facts.filmstrip if has_filmstrip else None
    return {"chapters": chapters, "filmstrip": strip and filmstrip(strip)}


def filmstrip(strip: Filmstrip) -> Mapping[str, Any]:
    path = Link(strip.url, is_ours=True).path_and_query
    return {"url": path, "frames": strip.frames, "columns": strip.frames_in_row}


# How far a person got


def stopped_words(position: Position) -> str:
    at = clock_words(position.position_seconds)
    if not position.duration_seconds:
        return _("You stopped at %(time)s.") % {"time": at}
    minutes = max(round((position.duration_seconds - position.position_seconds) / 60), 1)
    remaining = ngettext("%(count)s minute left", "%(count)s minutes left", minutes)
    words = {"time": at, "left": remaining % {"count": minutes}}
    return _("You stopped at %(time)s, with %(left)s.") % words


def left_words(position: Position) -> str:
    """Return `23 min left`, or the resume position in a film of unknown length."""
    if not position.duration_seconds:
        return clock_words(position.position_seconds)
    minutes = max(round((position.duration_seconds - position.position_seconds) / 60), 1)
    return _("%(count)s min left") % {"count": minutes}


def watched_words(position: Position) -> str:
    if position.percent:
        return _("Watched %(percent)s%%") % {"percent": position.percent}
    return _("Watched") if position.is_watched else ""
