"""The page and dialog in which people choose where to move or copy entries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.addresses import Addresses, ViewOptions
from webui.library.entries import FOLDER, ROOT, Entry
from webui.library.snapshot import Snapshot
from webui.v1.records import Batch, FoundEntry, SearchResult
from webui.words import formatting
from webui.words.formatting import name_parts

MOST_LISTED, MOST_NAMED = 200, 5


@dataclass(frozen=True)
class Place:
    """A folder to choose from. One that is being moved itself can't be opened."""

    id: str
    name_parts: tuple[str, ...]
    note: str = ""
    is_chosen: bool = False


@dataclass(frozen=True)
class Question:
    """What the person has chosen so far, and has to decide."""

    query: str
    found: SearchResult | None
    recent: Sequence[Snapshot]
    act: str
    placed: Batch | None
    error: str
    new_name: str  # of a folder that couldn't be created
    shown: str
    all_but: Sequence[str] | None
    filter: str


@dataclass(frozen=True)
class MovePage:
    title: str
    action: str
    back_url: str
    entries: Sequence[str]
    spared: Sequence[str]
    is_all: bool
    filter: str
    shown: str
    to: str
    name: str
    crumbs: list[Place]
    recent: list[Place]
    places: list[Place]
    more: str
    places_label: str
    empty_text: str
    query: str
    error: str
    new_name: str
    act: str
    taken: Sequence[str]
    taken_text: str
    taken_more: str
    may_move: bool
    is_nothing: bool


def move_page(
    source: Snapshot,
    chosen: Sequence[Entry],
    target: Snapshot,
    above: Sequence[tuple[str, str]],
    question: Question,
) -> MovePage:
    look = ViewOptions(query=question.filter)
    at = Addresses(source.folder, look)
    items = {"items": formatting.items_words(len(chosen))}
    chosen_keys = {entry.key for entry in chosen}
    taken = question.placed.taken if question.placed else ()
    places, more = places_of(target, chosen_keys, question.found)
    passed_over = {f"{FOLDER}-{source.folder}", f"{FOLDER}-{target.folder}", *chosen_keys}
    return MovePage(
        title=taken_title(question.placed.taken_count)
        if question.placed and taken
        else _("Move or copy %(items)s") % items,
        action=f"{at.below}move/",
        back_url=at.at(look),
        entries=[entry.key for entry in chosen] if question.all_but is None else [],
        spared=question.all_but or [],
        is_all=question.all_but is not None,
        filter=question.filter,
        shown=question.shown,
        to=target.folder,
        name=target.name or _("All files"),
        crumbs=[] if target.is_root else [root_place(), *map(crumb, above)],
        recent=[
            recent_place(each)
            for each in question.recent
            if f"{FOLDER}-{each.folder}" not in passed_over
        ],
        places=places,
        more=more,
        places_label=_("Folders found")
        if question.query
        else _("Folders in %(folder)s") % {"folder": target.name or _("All files")},
        empty_text=_("No folder is called that.")
        if question.query
        else _("There are no folders in here."),
        query=question.query,
        error=question.error,
        new_name=question.new_name,
        act=question.act,
        taken=taken[:MOST_NAMED],
        taken_text=taken_text(target),
        taken_more=formatting.more_words(question.placed.taken_count - MOST_NAMED)
        if question.placed
        else "",
        may_move=target.folder != source.folder,
        is_nothing=not chosen,
    )


def places_of(
    target: Snapshot, chosen_keys: Collection[str], result: SearchResult | None
) -> tuple[list[Place], str]:
    """Return the folders to show, and what to say about others."""
    if result is not None:
        more = _("There are more results. Add a word to see fewer.") if result.has_more else ""
        return [found_place(entry) for entry in result.folders], more
    inner = [entry for entry in target.contents.entries if entry.is_folder]
    shown = [place(entry, chosen_keys) for entry in inner[:MOST_LISTED]]
    return shown, formatting.more_words(len(inner) - MOST_LISTED)


def recent_place(folder: Snapshot) -> Place:
    """Return a folder with its path, since folders of one name may have been used."""
    return Place(folder.folder, name_parts(folder.path or folder.name))


def root_place() -> Place:
    return Place(ROOT, (_("All files"),))


def crumb(ancestor: tuple[str, str]) -> Place:
    folder_id, name = ancestor
    return Place(folder_id, name_parts(name))


def place(entry: Entry, chosen_keys: Collection[str]) -> Place:
    parts = name_parts(entry.name)
    return Place(entry.id, parts, is_chosen=entry.key in chosen_keys)


def found_place(entry: FoundEntry) -> Place:
    return Place(entry.id, name_parts(entry.name), entry.folder_path or _("All files"))


def taken_title(count: int) -> str:
    words = ngettext("%(count)s name is taken", "%(count)s names are taken", count)
    return words % {"count": formatting.count_words(count)}


def taken_text(target: Snapshot) -> str:
    text = _("%(folder)s already contains items with these names. What should Ferry do with them?")
    return text % {"folder": target.name or _("All files")}


def too_many_words(most: int) -> str:
    text = _("Ferry moves or copies at most %(count)s items at once. Choose fewer.")
    return text % {"count": formatting.count_words(most)}


def placed_words(act: str, count: int, folder: str) -> str:
    moved = ngettext(
        "%(count)s item moved to %(folder)s", "%(count)s items moved to %(folder)s", count
    )
    copied = ngettext(
        "%(count)s item copied to %(folder)s", "%(count)s items copied to %(folder)s", count
    )
    words = moved if act == "move" else copied
    return words % {"count": formatting.count_words(count), "folder": folder or _("All files")}
