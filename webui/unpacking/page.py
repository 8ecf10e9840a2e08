"""What Files says about ZIP files that the service unpacks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webui.v1.records import DOWNLOADED_PERCENT, Transfer
from webui.words import formatting, reasons


@dataclass(frozen=True)
class UnpackingRow:
    id: str
    name: str
    text: str
    percent: int
    is_failed: bool


@dataclass(frozen=True)
class UnpackingList:
    rows: tuple[UnpackingRow, ...]
    url: str  # shows how far they are; empty if all have failed
    seen: str  # the ids of those that haven't


def unpacking_list(folder: str, transfers: Iterable[Transfer]) -> UnpackingList:
    rows = tuple(map(row_of, transfers))
    seen = ",".join(row.id for row in rows if not row.is_failed)
    url = f"{reverse('files-unpackings', args=[folder])}?seen={seen}" if seen else ""
    return UnpackingList(rows, url, seen)


def row_of(transfer: Transfer) -> UnpackingRow:
    return UnpackingRow(
        id=transfer.id,
        name=transfer.name,
        text=text_of(transfer),
        percent=int(min(transfer.progress_percent, DOWNLOADED_PERCENT)),
        is_failed=transfer.state == "failed",
    )


def text_of(transfer: Transfer) -> str:
    match transfer.state:
        case "queued":
            return _("Waiting for a free slot")
        case "metadata":
            return _("Reading the ZIP file")
        case "downloading":
            done_bytes = int(transfer.size_bytes * transfer.progress_percent / 100)
            return formatting.progress_words(done_bytes, transfer.size_bytes)
        case "moving":
            return _("Moving to your files")
        case "no_room":
            return _("There isn't enough space. Delete something you don't need, and it continues.")
        case _:
            return reasons.find(transfer.reason or "").text or _("Ferry will try again.")


def begun_words(name: str) -> str:
    return _("Unpacking %(name)s") % {"name": name}


def done_words(names: Sequence[str]) -> str:
    if len(names) == 1:
        return _("Unpacked into %(folder)s") % {"folder": names[0]}
    words = ngettext("%(count)s ZIP file unpacked", "%(count)s ZIP files unpacked", len(names))
    return words % {"count": formatting.count_words(len(names))}


def undone_words(state: str) -> str:
    if state == "done":
        return _("Folder deleted")
    return _("Removed") if state == "failed" else _("Unpacking canceled")
