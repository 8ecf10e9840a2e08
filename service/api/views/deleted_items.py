"""Delete entries so that they can be restored, restore them, and delete them for good.

The specification of v1 only deletes for good.
"""

from django.db.models import QuerySet
from msgspec import UNSET

from service import signals
from service.api.archive_entries import read_selection
from service.api.auth import AccountRequest
from service.api.inputs import DeletedInput
from service.api.records import (
    DeletedEntries,
    Deletion,
    RestoredEntries,
    RestoredEntry,
    deleted_record,
)
from service.http import bodies
from service.http.refusals import UnreadableField
from service.library import deleted_items
from service.library.deleted_items import MOST_LISTED
from service.models import DeletedItem, File, Folder


def index(request: AccountRequest) -> DeletedEntries:
    listing = deleted_items.deleted_items(request.account)
    return DeletedEntries(
        items=[deleted_record(item) for item in listing.items],
        size=listing.size_bytes,
        days=deleted_items.kept_days(),
        has_more=listing.has_more,
    )


def delete(request: AccountRequest) -> Deletion:
    """Delete a selection in one transaction, or nothing."""
    chosen, _fields = read_selection(request)
    items = deleted_items.delete(request.account, *chosen, request.now)
    for item in items:
        sender = Folder if item.is_folder else File
        signals.deleted.send(sender, request=request, name=item.name)
    return Deletion(batch=items[0].batch if items else 0, count=len(items))


def restore(request: AccountRequest, sent: DeletedInput) -> RestoredEntries:
    restored = deleted_items.restore(request.account, items_of(sent), request.now)
    return RestoredEntries(
        items=[
            RestoredEntry(
                type="folder" if item.is_folder else "file",
                entry_id=item.entry_id,
                folder_id=folder_id,
                name=name,
            )
            for item, folder_id, name in restored
        ]
    )


def purge(request: AccountRequest, sent: DeletedInput) -> Deletion:
    return Deletion(
        batch=0, count=deleted_items.purge(request.account, items_of(sent), request.now)
    )


def items_of(sent: DeletedInput) -> QuerySet[DeletedItem]:
    items = DeletedItem.objects.filter(pk__lte=sent.until)
    if sent.all:
        return items
    if sent.batch:
        return items.filter(batch=sent.batch)
    if sent.ids is UNSET:
        return items.none()
    ids = [bodies.number(each.strip(), "ids") for each in sent.ids.split(",")]
    if len(ids) > MOST_LISTED:
        raise UnreadableField("ids")
    return items.filter(pk__in=ids)
