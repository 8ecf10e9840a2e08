"""The form that renames an entry, and the details of a folder."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from webui.files.pages.delete import Below, files_words, folders_words
from webui.files.pages.folder import download_url, sum_text
from webui.library.addresses import Addresses, ViewOptions, folder_url
from webui.library.entries import Entry, split_name
from webui.library.snapshot import Snapshot
from webui.words import formatting, joining

KILOBYTE = 1000  # smaller sizes are exact anyway


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
