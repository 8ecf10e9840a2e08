"""The forms that rename and delete entries, and the details of a folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.files.pages.folder import download_url, sum_text
from webui.library.addresses import Addresses, ViewOptions, folder_url
from webui.library.entries import Entry, split_name
from webui.library.kinds import ICONS
from webui.library.snapshot import Snapshot
from webui.words import formatting, joining
from webui.words.formatting import name_parts

KILOBYTE = 1000  # smaller sizes are exact anyway
MOST_LISTED = 50


@dataclass(frozen=True)
class Below:
    """What is in a folder, at any depth. `is_all`: everything was counted."""

    files: int
    folders: int
    is_all: bool


def rename_page(  # noqa: PLR0913  A form, and what is wrong with it.
    snapshot: Snapshot,
    entry: Entry,
    look: ViewOptions,
    *,
    name: str | None = None,
    error: str = "",
    next_url: str = "",
) -> dict[str, object]:
    """Describe the form. `next_url` is where to go afterward, if not to the entry's folder."""
    at = Addresses(snapshot.folder, look)
    new_name = entry.name if name is None else name
    question = "" if error else extension_question(entry, new_name)
    return {
        "key": entry.key,
        "name": entry.name,
        "new_name": new_name,
        "extension": extension_of(entry, new_name),
        "question": question,
        "action": f"{at.below}{entry.key}/rename/{look.tail}",
        "back_url": next_url or at.at(look),
        "back_label": _("Back") if next_url else snapshot.name or _("All files"),
        "next_url": next_url,
        "delete_url": f"{at.below}delete/?entry={entry.key}",
        "download_url": download_url(at, entry),
        "error": error,
    }


def extension_of(entry: Entry, name: str) -> str:
    return "" if entry.is_folder else split_name(name)[1]


def extension_question(entry: Entry, name: str) -> str:
    """Return what to ask before a file gets another extension, or nothing."""
    old, new = extension_of(entry, entry.name), extension_of(entry, name)
    if not old or old.lower() == new.lower():
        return ""
    if not new:
        return _("Remove %(old)s? Other apps may not open this file anymore.") % {"old": old}
    words = _("Change %(old)s to %(new)s? Other apps may not open this file anymore.")
    return words % {"old": old, "new": new}


def details_page(snapshot: Snapshot, above: Sequence[str], below: Below) -> dict[str, object]:
    size_bytes = snapshot.size_bytes
    return {
        "title": snapshot.name or _("All files"),
        "place": " / ".join([_("All files"), *above]) if not snapshot.is_root else "",
        "contents": contents_words(below),
        "size": sum_text(snapshot),
        "exact_size": formatting.exact_size(size_bytes) if size_bytes >= KILOBYTE else "",
        "back_url": folder_url(snapshot.folder),
    }


def contents_words(below: Below) -> str:
    """Return `14 files, 2 folders`."""
    files = files_words(below.files) if below.files else ""
    folders = folders_words(below.folders) if below.folders else ""
    text = joining.items([files, folders]) or _("Empty")
    return text if below.is_all else _("More than %(items)s") % {"items": text}


# Deleting


def delete_page(  # noqa: PLR0913  As many facts as it describes.
    snapshot: Snapshot,
    chosen: Sequence[Entry],
    below: Mapping[str, Below],
    look: ViewOptions,
    *,
    all_but: Sequence[str] | None,
    days: int = 0,
    shown: str = "",
) -> dict[str, object]:
    """Describe what would be lost. `days`: for how long it can be restored. `all_but`: None if the
    entries are listed one by one. `shown`: the folder that the page shows, if not the entries'."""
    at = Addresses(snapshot.folder, look)
    count = {"items": formatting.items_words(len(chosen))}
    sizes = [entry.size_bytes for entry in chosen]
    return {
        "title": _("Delete %(items)s?") % count,
        "text": delete_words(sizes, days),
        "items": [delete_item(entry, below.get(entry.key)) for entry in chosen[:MOST_LISTED]],
        "more": formatting.more_words(len(chosen) - MOST_LISTED),
        "button": _("Delete %(items)s") % count,
        "entries": [entry.key for entry in chosen] if all_but is None else [],
        "all_but": all_but,
        "query": look.query,
        "shown": shown,
        "action": at.act("delete"),
        "back_url": at.at(look),
    }


def delete_words(sizes: Sequence[int | None], days: int = 0) -> str:
    if days:
        text = ngettext(
            "You can restore deleted items for %(days)s day. Until then, they still take %(size)s.",
            "You can restore deleted items for %(days)s days. "
            "Until then, they still take %(size)s.",
            days,
        )
        size = formatting.sum_words(sizes)
        return text % {"days": formatting.count_words(days), "size": size}
    if sizes and not any(sizes) and None in sizes:
        return _("You can undo this for 10 seconds, but not later.")
    text = _("This frees %(size)s. You can undo it for 10 seconds, but not later.")
    return text % {"size": formatting.sum_words(sizes)}


def delete_item(entry: Entry, below: Below | None) -> dict[str, object]:
    return {
        "icon": "folder" if entry.is_folder else ICONS[entry.look],
        "name_parts": name_parts(entry.name),
        "note": below_words(below) if entry.is_folder else "",
        "size": formatting.size_words(entry.size_bytes),
    }


def below_words(below: Below | None) -> str:
    """Return `folder with 14 files and 2 folders`."""
    if below is None:
        return _("folder with all its contents")
    if below.is_all and not below.files and not below.folders:
        return _("empty folder")
    words = {"files": files_words(below.files), "folders": folders_words(below.folders)}
    if not below.is_all:
        return _("folder with more than %(files)s and %(folders)s") % words
    if not below.folders:
        return _("folder with %(files)s") % words
    if not below.files:
        return _("folder with %(folders)s") % words
    return _("folder with %(files)s and %(folders)s") % words


def files_words(count: int) -> str:
    words = ngettext("%(count)s file", "%(count)s files", count)
    return words % {"count": formatting.count_words(count)}


def folders_words(count: int) -> str:
    words = ngettext("%(count)s folder", "%(count)s folders", count)
    return words % {"count": formatting.count_words(count)}


def deleted_words(count: int) -> str:
    words = ngettext("%(count)s item deleted", "%(count)s items deleted", count)
    return words % {"count": formatting.count_words(count)}


def partly_deleted_words(count: int, total: int, why: str) -> str:
    numbers = {"count": formatting.count_words(count), "all": formatting.count_words(total)}
    stopped = _("Ferry deleted %(count)s of %(all)s, then stopped.") % numbers
    return joining.sentences((stopped, why))
