"""Forms of the Files screen: what is about to be renamed, packed, or uploaded."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from webui import formatting
from webui.files.page import download_url, upload_note
from webui.library.addresses import Addresses, ViewOptions
from webui.library.entries import Entry, split_name
from webui.library.snapshot import Snapshot

MOST_LISTED = 50


@dataclass(frozen=True)
class RenamePage:
    key: str
    name: str
    new_name: str
    extension: str
    question: str
    field: str
    action: str
    back_url: str
    delete_url: str
    download_url: str
    error: str


@dataclass(frozen=True)
class ArchivePage:
    title: str
    text: str
    items: list[str]
    more: str
    download_url: str
    back_url: str
    back_label: str


@dataclass(frozen=True)
class UploadPage:
    title: str
    action: str
    back_url: str
    note: str
    room_text: str


def rename_page(
    snapshot: Snapshot, entry: Entry, look: ViewOptions, *, name: str | None = None, error: str = ""
) -> RenamePage:
    at = Addresses(snapshot.folder, look)
    new_name = entry.name if name is None else name
    question = "" if error else extension_question(entry, new_name)
    return RenamePage(
        key=entry.key,
        name=entry.name,
        new_name=new_name,
        extension=extension_of(entry, new_name),
        question=question,
        field=f"name-{entry.key}",
        action=f"{at.below}{entry.key}/rename/{look.tail}",
        back_url=at.at(look),
        delete_url=f"{at.below}delete/?entry={entry.key}",
        download_url=download_url(at, entry),
        error=error,
    )


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


def archive_page(
    names: Sequence[str], size_bytes: int | None, *, download_url: str, back_url: str
) -> ArchivePage:
    words = {
        "items": formatting.items_words(len(names)),
        "size": formatting.size_words(size_bytes),
    }
    return ArchivePage(
        title=_("Your ZIP is ready"),
        text=_("%(items)s, %(size)s") % words,
        items=list(names[:MOST_LISTED]),
        more=formatting.more_words(len(names) - MOST_LISTED),
        download_url=download_url,
        back_url=back_url,
        back_label=_("Back to the folder"),
    )


def upload_page(snapshot: Snapshot, free: str, total: str, *, takes_folder: bool) -> UploadPage:
    at = Addresses(snapshot.folder, ViewOptions())
    room = {"free": free, "total": total}
    return UploadPage(
        title=_("Upload to %(folder)s") % {"folder": snapshot.name or _("All files")},
        action=f"{at.below}upload/",
        back_url=at.page,
        note=upload_note(snapshot, takes_folder=takes_folder),
        room_text=_("%(free)s free of %(total)s") % room if free else "",
    )
