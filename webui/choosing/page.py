"""The page and dialog in which people choose files of a torrent."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.choosing.tree import MOST_LISTED, Branch, kind_of, tree_of
from webui.files.pages.rows import kind_words
from webui.library.sorting import natural
from webui.transfers.states import CachedTransfer
from webui.v1.own_records import TransferFile
from webui.words.formatting import count_words, more_words, size_words

# In larger trees, the folders begin closed.
MOST_OPEN = 100


@dataclass(frozen=True, slots=True)
class FileLine:
    index: int
    name: str
    look: str
    kind: str
    size: str
    size_bytes: int
    percent: int
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class FolderLine:
    name: str
    label: str
    text: str
    folders: list["FolderLine"]
    files: list[FileLine]
    count: int
    size_bytes: int


def choice_page(
    transfer: CachedTransfer,
    files: Sequence[TransferFile],
    chosen: Collection[int],
    free_bytes: int | None,
) -> dict[str, Any]:
    wanted = [file for file in files if file.index in chosen]
    size_bytes, chosen_bytes = bytes_of(files), bytes_of(wanted)
    return {
        "key": transfer.key,
        "name": transfer.name or _("Unnamed"),
        "has_begun": not transfer.is_ended and not transfer.awaits_choice,
        "is_open": len(files) <= MOST_OPEN,
        "tree": folder_line(tree_of(files[:MOST_LISTED]), chosen, kind_words()),
        "rest": rest_line(files[MOST_LISTED:], chosen),
        "count": len(files),
        "size_bytes": size_bytes,
        "free_bytes": free_bytes,
        "sum": sum_words(len(wanted), len(files), chosen_bytes, size_bytes),
        "free": "" if free_bytes is None else _("%(size)s free") % {"size": size_words(free_bytes)},
        "short": "" if free_bytes is None else short_words(chosen_bytes - free_bytes),
        # Of a finished torrent, no file is chosen at first.
        "error": "" if wanted or transfer.is_ended else _("Choose at least one file."),
        "nothing": nothing_words(transfer),  # if there is no file to choose
    }


def bytes_of(rows: Iterable[TransferFile | FileLine | FolderLine]) -> int:
    return sum(each.size_bytes for each in rows)


def folder_line(branch: Branch, chosen: Collection[int], kinds: Mapping[str, str]) -> FolderLine:
    branches = sorted(branch.folders.values(), key=lambda each: natural(each.name))
    folders = [folder_line(each, chosen, kinds) for each in branches]
    named_files = sorted(branch.files, key=lambda each: natural(each[0]))
    files = [file_line(name, file, chosen, kinds) for name, file in named_files]
    count = len(files) + sum(each.count for each in folders)
    size_bytes = bytes_of(folders) + bytes_of(files)
    words = ngettext("%(count)s file, %(size)s", "%(count)s files, %(size)s", count)
    return FolderLine(
        name=branch.name,
        label=_("All files in %(folder)s") % {"folder": branch.name},
        text=words % {"count": count_words(count), "size": size_words(size_bytes)},
        folders=folders,
        files=files,
        count=count,
        size_bytes=size_bytes,
    )


def file_line(
    name: str, file: TransferFile, chosen: Collection[int], kinds: Mapping[str, str]
) -> FileLine:
    return FileLine(
        index=file.index,
        name=name,
        look=kind_of(file),
        kind=kinds[kind_of(file)],
        size=size_words(file.size_bytes),
        size_bytes=file.size_bytes,
        percent=file.progress_percent,
        is_chosen=file.index in chosen,
    )


def rest_line(files: Sequence[TransferFile], chosen: Collection[int]) -> dict[str, Any] | None:
    """Describe the files beyond those that have a row."""
    if not files:
        return None
    return {
        "text": more_words(len(files)),
        "count": len(files),
        "size_bytes": bytes_of(files),
        "is_chosen": all(file.index in chosen for file in files),
    }


def nothing_words(transfer: CachedTransfer) -> str:
    if transfer.is_ended:
        return _("All files of this torrent have arrived.")
    return _("Ferry is getting the list of files. Try again in a moment.")


def sum_words(chosen: int, count: int, chosen_bytes: int, size_bytes: int) -> str:
    """Return `3 of 40 files, 2.1 GB of 14 GB`, as the script does."""
    words = ngettext(
        "{chosen} of {count} file, {size} of {whole}",
        "{chosen} of {count} files, {size} of {whole}",
        count,
    )
    numbers = {"chosen": count_words(chosen), "count": count_words(count)}
    return words.format(**numbers, size=size_words(chosen_bytes), whole=size_words(size_bytes))


def short_words(short_bytes: int) -> str:
    if short_bytes <= 0:
        return ""
    return _("You need another {size}.").format(size=size_words(short_bytes))


def saved_words(count: int) -> str:
    words = ngettext("%(count)s file chosen", "%(count)s files chosen", count)
    return words % {"count": count_words(count)}
