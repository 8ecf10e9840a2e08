"""Turn pasted or dropped items into transfers, and report the outcome of each."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from django.urls import reverse

from common.torrent_files import find_info_hash
from webui.add.pages import outcomes
from webui.add.pages.outcomes import ItemResult, SentFile
from webui.add.parse import AddressItem, Item, MagnetItem, UnreadableItem
from webui.connection.connection import Service
from webui.deleting import held_deletes
from webui.library.entries import ROOT
from webui.models import HeldDelete, Sent, User
from webui.transfers import actions
from webui.uploads import new_files
from webui.v1 import errors
from webui.v1.errors import Failure
from webui.v1.records import Added
from webui.v1.uploads import Readable
from webui.words import reasons

# A service may take 45 s to add one item; after this time, a request adds no further item.
PATIENCE_SECONDS = 8.0


@dataclass(frozen=True)
class SendContext:
    """For whom items are sent, to which service, and into which folder."""

    service: Service
    by: User
    folder_id: str | None
    now: datetime
    is_choosing: bool = False  # Torrents wait until someone has chosen their files.
    marks: Mapping[str, str] = field(default_factory=dict)  # by another program


@dataclass(frozen=True)
class SendResult:
    """The outcomes so far. `left`: lines not tried yet. `failure`: why they would fail.

    `site`: whose page the bookmarklet sent.
    """

    results: list[ItemResult]
    left: list[str]
    failure: str = ""
    folder: str = ""
    site: str = ""

    @property
    def kept(self) -> list[str]:
        """Return the lines to put back into the field for another try."""
        return [result.line for result in self.results if result.line]


def send(
    context: SendContext, items: Sequence[Item], *, clock: Callable[[], float] = time.monotonic
) -> SendResult:
    """Send items one by one. A refused item doesn't stop the others; an absent service does."""
    held_deletes.delete_now(context.service, kind=HeldDelete.TRANSFER)
    deadline = clock() + PATIENCE_SECONDS
    results: list[ItemResult] = []
    for position, item in enumerate(items):
        if isinstance(item, UnreadableItem):
            results.append(ItemResult(item, "unreadable", reasons.find(item.why).text))
            continue
        if clock() > deadline:
            return SendResult(results, [each.line for each in items[position:]])
        try:
            results.append(send_item(context, item))
        except Failure as failure:
            result = refusal_of(item, failure)
            results.append(result)
            if is_about_service(failure):
                left = [each.line for each in items[position + 1 :]]
                return SendResult(results, left, result.sentence)
    return SendResult(results, [])


def send_item(context: SendContext, item: MagnetItem | AddressItem) -> ItemResult:
    v1 = context.service.v1
    if isinstance(item, MagnetItem):
        info_hash = item.info_hash
        send = partial(v1.add_magnet, item.uri, context.folder_id, chooses=context.is_choosing)
        facts = {"source_kind": Sent.MAGNET, "source": item.uri, "size_bytes": item.size_bytes}
    else:
        info_hash = ""
        send = partial(v1.add_url, item.url, context.folder_id)
        facts = {"source_kind": Sent.URL, "source": item.url}
    added, is_confirmed = actions.add(context.service, send, info_hash, item.name)
    result = record_item(context, item, added, info_hash, facts)
    return result if is_confirmed else replace(result, sentence=outcomes.unconfirmed_words())


def send_file(
    context: SendContext, name: str, content: Readable, size_bytes: int, torrent: bytes | None
) -> ItemResult:
    """Send a file. `torrent`: the bytes of a small .torrent, kept for another try."""
    file, info_hash = SentFile(name), find_info_hash(torrent or b"")
    held_deletes.delete_now(context.service, kind=HeldDelete.TRANSFER)
    send = partial(
        new_files.add,
        *(context.service, context.folder_id or ROOT, name, content, size_bytes),
        chooses=context.is_choosing,
    )
    try:
        if info_hash:
            added, is_confirmed = actions.add(context.service, send, info_hash, name)
        else:
            added, is_confirmed = send(), True
    except Failure as failure:
        return refusal_of(file, failure)
    # The size of a .torrent isn't the size of the files it describes.
    size = None if torrent else size_bytes
    facts = {"source_kind": Sent.FILE, "torrent": torrent, "size_bytes": size}
    result = record_item(context, file, added, info_hash, facts)
    return result if is_confirmed else replace(result, sentence=outcomes.unconfirmed_words())


def record_item(
    context: SendContext,
    item: MagnetItem | AddressItem | SentFile,
    added: Added,
    info_hash: str,
    facts: Mapping[str, Any],
) -> ItemResult:
    ids = {"transfer_id": added.id or "", "info_hash": added.hash or info_hash}
    is_known = added.was_there or is_recorded(context, **ids)
    row = Sent.record(
        context.service.key,
        **ids,
        title=added.name or item.name,
        folder_id=context.folder_id or "",
        added_by=context.by,
        added_at=context.now,
        **facts,
        **context.marks,
    )
    key = f"t{added.id}" if added.id else f"s{row.pk}"
    sentence = outcomes.added_words(item, added.reason, is_known=is_known)
    return ItemResult(
        with_known_name(item, added.name),
        "known" if is_known else "added",
        sentence,
        key=key,
        url=reverse("transfers-open", args=[key]) if is_known else "",
    )


def with_known_name(
    item: MagnetItem | AddressItem | SentFile, name: str
) -> MagnetItem | AddressItem | SentFile:
    """Return the item; if its hash was its only name, with the service's name."""
    if isinstance(item, MagnetItem) and item.name == item.info_hash and name:
        return replace(item, name=name)
    return item


def is_recorded(context: SendContext, transfer_id: str, info_hash: str) -> bool:
    rows = Sent.objects.filter(connection=context.service.key, cleared_at=None)
    if transfer_id:
        return rows.filter(transfer_id=transfer_id).exists()
    return bool(info_hash) and rows.filter(info_hash=info_hash).exists()


def refusal_of(item: MagnetItem | AddressItem | SentFile, failure: Failure) -> ItemResult:
    if failure.outcome != "nothing":
        return ItemResult(item, "unsure", outcomes.unsure_words(failure))
    is_kept = failure.wish is not None or failure.reason.endswith("added_to_wishlist")
    is_full = isinstance(failure, errors.NoRoom) and failure.reason.startswith("not_enough_space")
    sentence = outcomes.refusal_words(failure)
    return ItemResult(item, "no_room" if is_full else "refused", sentence, is_kept=is_kept)


def is_about_service(failure: Failure) -> bool:
    """Return whether the next item would fail in the same way."""
    if isinstance(failure, errors.Forbidden):
        return not failure.reason.startswith("private_not_allowed")
    return isinstance(failure, errors.Unauthorized | errors.TooMany) or (
        isinstance(failure, errors.Unavailable) and not isinstance(failure, errors.Unreadable)
    )
