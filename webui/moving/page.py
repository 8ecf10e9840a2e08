"""The page and dialog in which people choose a folder: to move or copy there, or to add."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.library.addresses import Addresses, ViewOptions
from webui.library.entries import ROOT, Entry
from webui.library.snapshot import Snapshot
from webui.v1.own_records import Batch, FoundEntry, SearchResult
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
class FolderPicker:
    """The folders to choose from: those in the open folder, or those that have a name."""

    query: str
    to: str
    name: str
    path: str
    crumbs: list[Place]
    recent: list[Place]
    places: list[Place]
    more: str
    places_label: str
    empty_text: str


@dataclass(frozen=True)
class Question:
    """What the person has chosen so far, and has to decide."""

    act: str
    placed: Batch | None
    error: str
    new_name: str  # of a folder that couldn't be created
    shown: str
    all_but: Sequence[str] | None
    filter: str


def move_page(
    source: Snapshot,
    chosen: Sequence[Entry],
    picker: FolderPicker,
    question: Question,
) -> dict[str, object]:
    look = ViewOptions(query=question.filter)
    at = Addresses(source.folder, look)
    taken = question.placed.taken if question.placed else ()
    taken_count = question.placed.taken_count if question.placed else 0
    title = _("Move or copy %(items)s") % {"items": formatting.items_words(len(chosen))}
    if taken:
        words = ngettext("%(count)s name is taken", "%(count)s names are taken", taken_count)
        title = words % {"count": formatting.count_words(taken_count)}
    return {
        "title": title,
        "action": f"{at.below}move/",
        "back_url": at.at(look),
        "entries": [entry.key for entry in chosen] if question.all_but is None else [],
        "picker": picker,
        "question": question,
        "taken": taken[:MOST_NAMED],
        "taken_text": taken_text(picker.name),
        "taken_more": formatting.more_words(taken_count - MOST_NAMED),
        "may_move": picker.to != source.folder,
        "is_nothing": not chosen,
    }


def folder_picker(  # noqa: PLR0913  The open folder, and what was searched for.
    target: Snapshot,
    above: Iterable[tuple[str, str]],
    recent: Iterable[Snapshot],
    query: str,
    result: SearchResult | None,
    *,
    chosen_keys: Collection[str] = (),
) -> FolderPicker:
    """Describe the folders that can be chosen. Without a query, there is no result."""
    name, root = target.name or _("All files"), Place(ROOT, (_("All files"),))
    places, more = places_of(target, chosen_keys, result)
    crumbs = [root, *(Place(folder, name_parts(each)) for folder, each in above)]
    return FolderPicker(
        query=query,
        to=target.folder,
        name=name,
        path=target.path or name,
        crumbs=[] if target.is_root else crumbs,
        # Folders of one name may have been used.
        recent=[Place(each.folder, name_parts(each.path or each.name)) for each in recent],
        places=places,
        more=more,
        places_label=_("Folders found") if query else _("Folders in %(folder)s") % {"folder": name},
        empty_text=_("No folder is called that.") if query else _("There are no folders in here."),
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


def place(entry: Entry, chosen_keys: Collection[str]) -> Place:
    parts = name_parts(entry.name)
    return Place(entry.id, parts, is_chosen=entry.key in chosen_keys)


def found_place(entry: FoundEntry) -> Place:
    return Place(entry.id, name_parts(entry.name), entry.folder_path or _("All files"))


def taken_text(folder: str) -> str:
    text = _("%(folder)s already contains items with these names. What should Ferry do with them?")
    return text % {"folder": folder}


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
