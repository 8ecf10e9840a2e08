"""Find the films of a folder before and after a film."""

from collections.abc import Mapping

from webui.library.entries import Entry, split_name
from webui.library.episodes import is_next_episode
from webui.library.snapshot import Snapshot
from webui.library.sorting import BY_SECTION, Contents, by_name
from webui.player.position import Position


def films_around(snapshot: Snapshot, entry: Entry) -> tuple[Entry | None, Entry | None]:
    """Return the previous and next films of the folder, by name whatever the listing's order."""
    films = [each for each in snapshot.contents.entries if is_film(each)]
    films.sort(key=by_name)
    place = films.index(entry)
    after = films[place + 1] if place + 1 < len(films) else None
    return (films[place - 1] if place else None), after


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
    films = [each for each in contents.in_order(BY_SECTION) if is_film(each)]
    for place in range(len(films) - 1, -1, -1):
        film, position = films[place], positions.get(films[place].id)
        if position is None:
            continue
        if position.percent:
            return film
        if position.is_watched:
            after = films[place + 1] if place + 1 < len(films) else None
            stem = split_name(film.name)[0]
            is_next = after and is_next_episode(stem, split_name(after.name)[0])
            if after and is_next and after.id not in positions:
                return after
    return None


def is_film(entry: Entry) -> bool:
    return not entry.is_folder and entry.preview == "video"
