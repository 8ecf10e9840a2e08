"""Resume positions, keyed by the service's file ids, so that names may change."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from common.storage import row_cache
from webui.connection.connection import Service
from webui.library import folders
from webui.library.entries import FILE, Entry
from webui.library.snapshot import Snapshot
from webui.models import User, Watched
from webui.player.position import Position, clamp, is_at_end, is_begun
from webui.v1.errors import Failure

MOST_POSITIONS = 5_000
MOST_CONTINUED = 6
CONTINUED_FOR = timedelta(days=90)
MOST_FOLDERS = 500
AT_ONCE = 500


@dataclass(frozen=True)
class Film:
    """A film that someone watches, and where it is."""

    service: Service
    folder: str
    entry: Entry


def position(user: User, service: Service, file: str) -> Position | None:
    row = Watched.objects.filter(user=user, service=service.key, file=file).first()
    return position_of(row) if row else None


def positions(user: User, service: Service, folder: str) -> frozenset[tuple[str, Position]]:
    """Return the positions in all files of a folder, by the file's id, in one query."""

    def load() -> frozenset[tuple[str, Position]]:
        films = Watched.objects.filter(user=user, service=service.key, folder=folder)
        return frozenset((each.file, position_of(each)) for each in films[:MOST_POSITIONS])

    return row_cache.read(("positions", user.pk, service.key, folder), load)


def save_position(
    user: User, film: Film, at_seconds: float, of_seconds: float, now: datetime
) -> None:
    at, of = clamp(at_seconds), clamp(of_seconds)
    facts: dict[str, object] = {"duration_seconds": of}
    if is_at_end(at, of):
        facts |= {"position_seconds": 0, "is_watched": True}
    else:
        facts |= {"position_seconds": at if is_begun(at) else 0}
    save(user, film, facts, now)


def set_watched(user: User, film: Film, now: datetime, *, is_watched: bool) -> None:
    save(user, film, {"is_watched": is_watched, "position_seconds": 0}, now)


def save(user: User, film: Film, facts: dict[str, object], now: datetime) -> None:
    about = {"folder": film.folder, "updated_at": now}
    Watched.objects.update_or_create(
        user=user, service=film.service.key, file=film.entry.id, defaults=about | facts
    )


def position_of(row: Watched) -> Position:
    return Position(row.position_seconds, row.duration_seconds, row.is_watched)


# Continue watching


def continue_watching(
    user: User, service: Service, now: datetime
) -> list[tuple[Snapshot, Entry, Position]]:
    """Return films that were begun but not finished, the latest first, if a listing has them."""
    rows = Watched.objects.filter(
        user=user,
        service=service.key,
        position_seconds__gt=0,
        updated_at__gt=now - CONTINUED_FOR,
    ).order_by("-updated_at")[: MOST_CONTINUED * 2]
    films: list[tuple[Snapshot, Entry, Position]] = []
    for row in rows:
        cached = folders.store().find(service.key, row.folder)
        entry = cached.snapshot.contents.find(f"{FILE}-{row.file}") if cached else None
        if cached and entry:
            films.append((cached.snapshot, entry, position_of(row)))
    return films[:MOST_CONTINUED]


# Deleted and moved files


def forget(service: Service, deleted: Iterable[Entry]) -> None:
    """Delete the positions of deleted entries. Call it before the cache forgets their listings."""
    files = [entry.id for entry in deleted if not entry.is_folder]
    inside = with_opened_subfolders(service, [entry.id for entry in deleted if entry.is_folder])
    rows = Watched.objects.filter(service=service.key)
    for start in range(0, len(files), AT_ONCE):
        rows.filter(file__in=files[start : start + AT_ONCE]).delete()
    rows.filter(folder__in=inside).delete()


def update_folders(service: Service, folder_ids: Iterable[str], now: datetime) -> None:
    """Note where films are after entries have moved between these folders."""
    ids = [*folder_ids]
    rows = [*Watched.objects.filter(service=service.key, folder__in=ids)]
    for folder in ids if rows else []:
        with suppress(Failure):
            snapshot = folders.read(service, folder, now=now).snapshot
            here = [row.pk for row in rows if snapshot.contents.find(f"{FILE}-{row.file}")]
            Watched.objects.filter(pk__in=here).update(folder=snapshot.folder)


def with_opened_subfolders(service: Service, folder_ids: list[str]) -> list[str]:
    """Return these folders and the folders inside them that someone opened, since only in an opened
    folder can someone have watched a film."""
    all_ids = list(folder_ids)
    for folder in all_ids:
        cached = folders.store().find(service.key, folder) if len(all_ids) < MOST_FOLDERS else None
        entries = cached.snapshot.contents.entries if cached else []
        all_ids += [entry.id for entry in entries if entry.is_folder and entry.id not in all_ids]
    return all_ids[:MOST_FOLDERS]
