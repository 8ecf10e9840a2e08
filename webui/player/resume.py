"""How far people got in which film, keyed by the service's ids, so that names may change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from webui.connection.connection import Service
from webui.library import folders
from webui.library.entries import FILE, Entry, Snapshot
from webui.models import User, Watched
from webui.player.positions import Position

# Who looked in for a moment did not begin, and who reads the names of the crew has seen it all.
BEGUN_SECONDS = 10
END_SECONDS = 300
END_SHARE = 0.05
LONGEST_SECONDS = 1_000 * 3600
MOST_MARKS = 5_000
MOST_CONTINUED = 6
CONTINUED_FOR = timedelta(days=90)
MOST_FOLDERS = 500
AT_ONCE = 500


@dataclass(frozen=True)
class Film:
    """A file that somebody watches, where it lies."""

    service: Service
    folder: str
    entry: Entry


def position(user: User, service: Service, file: str) -> Position | None:
    found = Watched.objects.filter(user=user, service=service.key, file=file).first()
    return position_of(found) if found else None


def positions(user: User, service: Service, folder: str) -> Mapping[str, Position]:
    """Of all files of a folder, in one query."""
    found = Watched.objects.filter(user=user, service=service.key, folder=folder)
    return {each.file: position_of(each) for each in found[:MOST_MARKS]}


def report(user: User, film: Film, at_seconds: float, of_seconds: float, now: datetime) -> None:
    at, of = bounded(at_seconds), bounded(of_seconds)
    facts: dict[str, object] = {"duration_seconds": of}
    if is_end(at, of):
        facts |= {"position_seconds": 0, "is_watched": True}
    else:
        facts |= {"position_seconds": at if at >= BEGUN_SECONDS else 0}
    save(user, film, facts, now)


def set_watched(user: User, film: Film, now: datetime, *, is_watched: bool) -> None:
    save(user, film, {"is_watched": is_watched, "position_seconds": 0}, now)


def save(user: User, film: Film, facts: dict[str, object], now: datetime) -> None:
    about = {"folder": film.folder, "updated_at": now}
    Watched.objects.update_or_create(
        user=user, service=film.service.key, file=film.entry.id, defaults=about | facts
    )


def bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_SECONDS)


def is_end(at: float, of: float) -> bool:
    return of > 0 and of - at <= min(of * END_SHARE, END_SECONDS)


def position_of(found: Watched) -> Position:
    return Position(found.position_seconds, found.duration_seconds, found.is_watched)


# Continue watching


def continued(
    user: User, service: Service, now: datetime
) -> list[tuple[Snapshot, Entry, Position]]:
    """What was begun and not seen to its end, the latest first, as far as it is still there."""
    begun = Watched.objects.filter(
        user=user,
        service=service.key,
        position_seconds__gt=0,
        updated_at__gt=now - CONTINUED_FOR,
    ).order_by("-updated_at")[: MOST_CONTINUED * 2]
    found: list[tuple[Snapshot, Entry, Position]] = []
    for each in begun:
        snapshot, entry = whereabouts(service, each)
        if snapshot and entry and len(found) < MOST_CONTINUED:
            found.append((snapshot, entry, position_of(each)))
    return found


def whereabouts(service: Service, watched: Watched) -> tuple[Snapshot | None, Entry | None]:
    known = folders.store().find(service.key, watched.folder)
    snapshot = known.snapshot if known else None
    entry = snapshot.contents.find(f"{FILE}-{watched.file}") if snapshot else None
    return snapshot, entry


# What becomes of the files


def forget(service: Service, deleted: Iterable[Entry]) -> None:
    """To be told before the listings forget what lies in a folder."""
    files = [entry.id for entry in deleted if not entry.is_folder]
    inside = below(service, [entry.id for entry in deleted if entry.is_folder])
    kept = Watched.objects.filter(service=service.key)
    for start in range(0, len(files), AT_ONCE):
        kept.filter(file__in=files[start : start + AT_ONCE]).delete()
    kept.filter(folder__in=inside).delete()


def below(service: Service, wanted: list[str]) -> list[str]:
    """These folders and those in them, as far as anybody opened them: who watched something there
    did."""
    found = list(wanted)
    for folder in found:
        known = folders.store().find(service.key, folder) if len(found) < MOST_FOLDERS else None
        entries = known.snapshot.contents.entries if known else []
        found += [entry.id for entry in entries if entry.is_folder and entry.id not in found]
    return found[:MOST_FOLDERS]
