"""Read the files of a folder, with what is known about their contents."""

from typing import NamedTuple

from django.db import connection
from django.db.models import TextField
from django.db.models.functions import Cast, Substr

from service.models import Folder

# Dates as the database writes them, to the second and in UTC: converting 10,000 to dates and back
# to text would cost a third of a listing.
MOMENT = Substr(Cast("updated_at", TextField()), 1, 19)


class FileRow(NamedTuple):
    id: int
    name: str
    size_bytes: int
    sha1: str
    moment: str
    # None if the content has no media row yet.
    media_state: str | None = None
    kind: str | None = None
    has_picture: bool | int | None = None
    duration_ms: int | None = None
    width: int | None = None
    height: int | None = None
    taken: str | None = None


# Django would build and convert these rows for longer than SQLite reads them.
JOIN_MEDIA = """
    SELECT file.id, file.name, file.size_bytes, file.sha1, substr(file.updated_at, 1, 19),
        media.state, media.kind, media.has_picture, media.duration_ms, media.width, media.height,
        media.taken
    FROM service_file file LEFT JOIN service_media media
        ON media.sha1 = file.sha1 AND media.size_bytes = file.size_bytes
    WHERE file.folder_id = %s ORDER BY file.name_key
"""
# PostgreSQL's planner, which doesn't know how many rows are cached, would rather read all media
# than look up those of some thousand files: half a second with a million. It can only look up a
# lateral subquery with a limit.
LOOK_UP_MEDIA = """
    SELECT file.id, file.name, file.size_bytes, file.sha1, substr(file.updated_at::text, 1, 19),
        media.state, media.kind, media.has_picture, media.duration_ms, media.width, media.height,
        media.taken
    FROM service_file file LEFT JOIN LATERAL (
        SELECT * FROM service_media
        WHERE sha1 = file.sha1 AND size_bytes = file.size_bytes LIMIT 1
    ) media ON true
    WHERE file.folder_id = %s ORDER BY file.name_key COLLATE "C"
"""


def file_rows(folder: Folder) -> list[FileRow]:
    """Return the files in a folder by name, with as many queries for 10,000 as for 10."""
    statement = LOOK_UP_MEDIA if connection.vendor == "postgresql" else JOIN_MEDIA
    with connection.cursor() as cursor:
        cursor.execute(statement, [folder.pk])
        return list(map(FileRow._make, cursor.fetchall()))
