"""The folders in the index that search uses at services that can't search themselves."""

from collections.abc import Collection

from common.batches import batches
from webui.connection.connection import Service
from webui.library.entries import FOLDER, Entry
from webui.models import IndexedEntry, IndexedFolder

MOST_LEVELS = 64


def mark_changed(service: Service, folders: Collection[str]) -> None:
    """Have the worker read these folders before others: people have changed them."""
    rows = IndexedFolder.objects.filter(index__service=service.key, folder__in=folders)
    rows.update(is_changed=True)


def forget_deleted(service: Service, entry: Entry) -> None:
    rows = IndexedEntry.objects.filter(kind=entry.kind, entry_id=entry.id)
    rows.filter(folder__index__service=service.key).delete()
    if entry.is_folder:
        forget(service.key, [entry.id])


def forget(service_key: str, folders: Collection[str]) -> None:
    """Forget folders and all that is below them. Other folders that list one of them are reread."""
    rows = IndexedFolder.objects.filter(index__service=service_key)
    for _level in range(MOST_LEVELS):
        if not folders:
            break
        below: list[str] = []
        for some in batches(folders):
            below += rows.filter(parent__in=some).values_list("folder", flat=True)
            rows.filter(folder__in=some).delete()
            listed = IndexedEntry.objects.filter(kind=FOLDER, entry_id__in=some)
            rows.filter(pk__in=listed.values("folder")).update(etag="")
        folders = below
