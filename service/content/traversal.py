"""List a selection and everything below it, in the order of a ZIP."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.db.models.functions import Substr
from django.db.models.lookups import In

from common.batches import batches
from service.code_point_order import by_code_point
from service.content.archive import ArchiveFiles, ArchiveFolder, Step
from service.errors import NotFound
from service.library.file_rows import MOMENT
from service.library.library import root_of
from service.models import LARGEST_ID, LINEAGE_DIGITS, Account, File, Folder, lineage_end

Row = TypeVar("Row", bound=Model)
AT_ONCE = 500  # values in one query
FILE_COLUMNS = ("name", "size_bytes", "crc32", "moment", "blob")


def walk(account: Account, folder_ids: Iterable[int], file_ids: Iterable[int]) -> Iterator[Step]:
    """Walk the selection and all below it depth first, each entry once, with little memory.

    Raises NotFound at once if an id no longer exists.
    """
    folders = _selected_folders(account, set(folder_ids))
    files = _selected_files(account, set(file_ids), folders)
    return _steps(folders, files)


def _selected_folders(account: Account, ids: set[int]) -> list[str]:
    """Return the folders' lineages in order, without folders inside others of the selection."""
    if 0 in ids:
        ids = ids - {0} | {root_of(account).pk}
    rows = Folder.objects.values_list("lineage", flat=True)
    outermost: list[str] = []
    for lineage in sorted(_find_all(rows, account, ids)):
        if not outermost or not lineage.startswith(outermost[-1]):
            outermost.append(lineage)
    return outermost


def _selected_files(account: Account, ids: set[int], outermost: list[str]) -> list[ArchiveFiles]:
    rows = File.objects.annotate(moment=MOMENT).order_by(by_code_point("name_key"))
    matches = _find_all(rows.values_list("folder__lineage", *FILE_COLUMNS), account, ids)
    outside = (row for row in matches if not _lies_in(row[0], outermost))
    return [_columns(batch) for batch in batches(outside, AT_ONCE)]


def _find_all(rows: QuerySet[Any, Any], account: Account, ids: set[int]) -> list[Any]:
    """Find the rows with these ids. Raises NotFound if one doesn't exist.

    SQLite's driver would fail on an id beyond 63 bits.
    """
    if any(not 0 <= each <= LARGEST_ID for each in ids):
        raise NotFound
    matches: list[Any] = []
    for batch in batches(ids, AT_ONCE):
        matches += rows.filter(account=account, pk__in=batch)
    if len(matches) < len(ids):
        raise NotFound
    return matches


def _lies_in(lineage: str, outermost: list[str]) -> bool:
    before = bisect_right(outermost, lineage) - 1
    return before >= 0 and lineage.startswith(outermost[before])


def _steps(outermost: list[str], selected: list[ArchiveFiles]) -> Iterator[Step]:
    for _length, alike in groupby(sorted(outermost, key=len), key=len):
        for batch in batches(alike, AT_ONCE):
            yield from _descents(batch)
    for files in selected:
        yield Step(0, files)


def _descents(tops: list[str]) -> Iterator[Step]:
    """Merge folders and files, which the database returns in the same order."""
    folders = _below_all(Folder.objects.order_by("lineage"), "lineage", tops)
    in_order = ("folder__lineage", by_code_point("name_key"))
    files = File.objects.annotate(moment=MOMENT).order_by(*in_order)
    files = _below_all(files, "folder__lineage", tops)
    rows = files.values_list("folder__lineage", *FILE_COLUMNS).iterator()
    by_folder = groupby(rows, key=itemgetter(0))
    coming = next(by_folder, None)
    for lineage, name, updated_at in folders.values_list(
        "lineage", "name", "updated_at"
    ).iterator():
        depth = (len(lineage) - len(tops[0])) // LINEAGE_DIGITS
        yield Step(depth, ArchiveFolder(name, updated_at))
        # If less, the files' folder was deleted between the two queries.
        while coming and coming[0] <= lineage:
            if coming[0] == lineage:
                for batch in batches(coming[1], AT_ONCE):
                    yield Step(depth + 1, _columns(batch))
            coming = next(by_folder, None)


def _columns(rows: list[tuple[Any, ...]]) -> ArchiveFiles:
    _lineages, names, sizes_bytes, crcs, moments, blobs = zip(*rows, strict=True)
    return ArchiveFiles(names, sizes_bytes, crcs, [*map(_date, moments)], blobs)


@lru_cache(maxsize=AT_ONCE)
def _date(moment: str) -> datetime:
    """Parse a time, cached: files of one transfer share one object, whose hash is computed once."""
    return datetime.fromisoformat(f"{moment}+00:00")


def _below_all(rows: QuerySet[Row], column: str, tops: list[str]) -> QuerySet[Row]:
    """Filter rows to those in or below `tops`, sorted folders of one depth.

    This reads one range of the index, and checks each row in it. A range for each folder took
    SQLite 7 s for 10,000 folders.
    """
    span = Q(**{f"{column}__gte": tops[0], f"{column}__lt": lineage_end(tops[-1])})
    return rows.filter(span, In(Substr(column, 1, len(tops[0])), tops))
