"""Delete what is stored about contents that no file has anymore."""

from datetime import datetime, timedelta

from django.conf import settings

from common.batches import batches
from service.media import content_folders, probing
from service.media.cache import Cache
from service.media.content_folders import Content
from service.models import DeletedFile, File

ROWS_AT_ONCE = 500
# While a file is being added, its content exists before its row.
AGE = timedelta(hours=1)


def sweep_rows(_now: datetime) -> None:
    probing.without_file().delete()


def sweep(now: datetime) -> None:
    """Sweep this machine's disk, and what the store has of the same contents."""
    before = (now - AGE).timestamp()
    contents = content_folders.contents()
    old = (each for each in contents if content_folders.changed_at(each) < before)
    for batch in batches(old, ROWS_AT_ONCE):
        for content in without_file(batch):
            content_folders.forget(content)
    content_folders.clear_scratch(now - AGE)
    Cache(settings.MEDIA_CACHE).sweep()


def without_file(contents: list[Content]) -> list[Content]:
    sums = [each.sha1 for each in contents]
    # In one query, since deleting and restoring move a row from one table to the other.
    files, deleted_files = (
        model.objects.filter(sha1__in=sums).values_list("sha1", "size_bytes")
        for model in (File, DeletedFile)
    )
    known_contents = set(files.union(deleted_files))
    return [each for each in contents if (each.sha1, each.size_bytes) not in known_contents]
