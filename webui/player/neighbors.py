"""Find the films of a folder before and after a film."""

from collections.abc import Mapping

from webui.library.entries import Entry, split_name
from webui.library.episodes import is_next_episode
from webui.library.snapshot import Snapshot
from webui.library.sorting import BY_SECTION, Contents, by_name
from webui.player.position import Position


def films_around(snapshot: Snapshot, entry: Entry) -> tuple[Entry | None, Entry | None]:
    """Return the previous and next films of the folder, by name whatever the listing's order."""
    films = sorted((each for each in snapshot.contents.entries if is_film(each)), key=by_name)
    around = [None, *films, None]
    place = around.index(entry)
    return around[place - 1], around[place + 1]


def folder_after(snapshot: Snapshot, parent: Snapshot) -> Entry | None:
    """Return the folder that follows this one by name, as the next season does."""
    folders = sorted((each for each in parent.contents.entries if each.is_folder), key=by_name)
    ids = [each.id for each in folders]
    place = ids.index(snapshot.folder) + 1 if snapshot.folder in ids else len(ids)
    return folders[place] if place < len(ids) else None


def first_episode_after(entry: Entry, season: Snapshot) -> Entry | None:
    """Return the first film of a folder if it continues the series of this film."""
    films = [each for each in season.contents.in_order(BY_SECTION) if is_film(each)]
    stems = [split_name(each.name)[0] for each in (entry, *films[:1])]
    return films[0] if films and is_next_episode(*stems) else None


def next_up(contents: Contents, positions: Mapping[str, Position]) -> Entry | None:
    """Return the film to continue with: the last film begun, or the episode after the last film
    watched. Positions are by the file's id."""
    after: Entry | None = None
    for film in reversed([each for each in contents.in_order(BY_SECTION) if is_film(each)]):
        position = positions.get(film.id)
        if position and position.percent:
            return film
        if position and position.is_watched and after and after.id not in positions:
            stems = [split_name(each.name)[0] for each in (film, after)]
            if is_next_episode(*stems):
                return after
        after = film
    return None


def is_film(entry: Entry) -> bool:
    return not entry.is_folder and entry.preview == "video"
