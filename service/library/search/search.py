"""Find files and folders anywhere in an account's library by parts of their names."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from common.search_text import patterns_of
from service.library.search import index as search_index
from service.models import Account, File, Folder, lineage_end

MOST_LARGEST = 100
MOST_FOUND = 200
MOST_COUNTED = 1_000
FOLDERS, FILES = "folders", "files"
# SQLite's index knows neither sizes nor dates. Of what it finds, the newest are compared.
MOST_COMPARED = 5_000
MOST_COMPARED_TO_LIMITS = 50_000

Part = tuple[str, list[Any]]  # of an SQL statement, with its values


class Limits(NamedTuple):
    """Conditions on an entry besides its name."""

    suffixes: tuple[str, ...] = ()
    least_bytes: int = 0
    most_bytes: int | None = None
    since: datetime | None = None


class Search(NamedTuple):
    account: Account
    query: str
    limits: Limits = Limits()
    most: int = MOST_FOUND
    only: str = ""  # FOLDERS or FILES
    below: Folder | None = None


class Matches(NamedTuple):
    """`total` is how many there are, up to MOST_COUNTED of each kind."""

    folders: list[Folder]
    files: list[File]
    has_more: bool
    total: int
    has_uncounted: bool


def largest_files(account: Account) -> list[File]:
    """Return the largest files of the whole library; of equals, the newer one first."""
    return list(File.objects.filter(account=account).order_by("-size_bytes", "-pk")[:MOST_LARGEST])


def find(search: Search) -> Matches:
    """Return the entries whose names contain every word of the query, the newest first.

    Names in which each word of the query begins a word come before others. Without a query, the
    newest files are returned. Unless only folders are requested, no folder is within limits.
    """
    has_words = bool(patterns_of(search.query))
    if search.query.strip() and not has_words:
        return Matches([], [], has_more=False, total=0, has_uncounted=False)
    has_both = has_words and not search.only and search.limits == Limits()
    folder_ids = ranked_ids(Folder, search) if has_both or search.only == FOLDERS else []
    file_ids = ranked_ids(File, search) if search.only != FOLDERS else []
    folders = Folder.objects.in_bulk(folder_ids[: search.most])
    files = File.objects.in_bulk(file_ids[: search.most])
    counts = len(folder_ids), len(file_ids)
    return Matches(
        [folders[each] for each in folder_ids if each in folders],
        [files[each] for each in file_ids if each in files],
        has_more=max(counts) > search.most,
        total=sum(min(each, MOST_COUNTED) for each in counts),
        has_uncounted=max(counts) > MOST_COUNTED,
    )


def ranked_ids(model: type[File | Folder], search: Search) -> list[int]:
    """Return the ids of matches, the best first; one too many if not all are counted."""
    most = MOST_COUNTED + 1
    starts, parts = patterns_of(search.query, at_start=True), patterns_of(search.query)
    ids = newest_ids(model, search, starts, most)
    if len(ids) < most and parts != starts:
        ids += newest_ids(model, search, parts, most)
    return list(dict.fromkeys(ids))[:most]


def newest_ids(
    model: type[File | Folder], search: Search, patterns: Sequence[str], most: int
) -> list[int]:
    """Return the ids of entries whose texts contain all patterns, the newest first."""
    table = model._meta.db_table  # noqa: SLF001  Django documents it.
    conditions, condition_values = conditions_of(model, search, patterns)
    ids: list[int] = []
    for source, values in sources(table, search, patterns):
        sql = f"SELECT item.id FROM {source} WHERE {conditions}"  # noqa: S608
        if connection.vendor == "postgresql":
            sql += " ORDER BY item.id DESC"
        with connection.cursor() as cursor:
            cursor.execute(f"{sql} LIMIT %s", [*values, *condition_values, most])
            ids = sorted((each for (each,) in cursor.fetchall()), reverse=True)
        if len(ids) == most:
            break
    return ids


def conditions_of(model: type[File | Folder], search: Search, patterns: Sequence[str]) -> Part:
    least, most, since = search.limits[1:]
    parts: list[Part] = [("item.account_id = %s", [search.account.pk])]
    parts += [part_below(model, search.below)] if search.below else []
    parts += [("item.parent_id IS NOT NULL", [])] if model is Folder else []
    parts += [("item.search_text LIKE %s", [f"%{pattern}%"]) for pattern in patterns]
    if suffixes := search.limits.suffixes:
        either = " OR ".join(["item.search_text LIKE %s"] * len(suffixes))
        parts.append((f"({either})", [f"% {suffix} " for suffix in suffixes]))
    if least:
        parts.append(("item.size_bytes >= %s", [least]))
    if most is not None:
        parts.append(("item.size_bytes <= %s", [most]))
    if since is not None:
        at = connection.ops.adapt_datetimefield_value(since)
        parts.append(("item.updated_at >= %s", [at]))
    return " AND ".join(sql for sql, _values in parts), [each for _sql, v in parts for each in v]


def part_below(model: type[File | Folder], top: Folder) -> Part:
    lineages = [top.lineage, lineage_end(top.lineage)]
    if model is Folder:
        return "item.lineage > %s AND item.lineage < %s", lineages
    folders = Folder._meta.db_table  # noqa: SLF001  As above.
    inside = f"SELECT 1 FROM {folders} above WHERE above.id = item.folder_id"  # noqa: S608
    return f"EXISTS ({inside} AND above.lineage >= %s AND above.lineage < %s)", lineages


def sources(table: str, search: Search, patterns: Sequence[str]) -> Iterator[Part]:
    """Yield sources to search; the caller stops at the first that yields enough.

    PostgreSQL's index contains the account. SQLite reads candidates from its index, in their order
    as long as nothing has to be sorted. A large account's mark is in most
    rows, so looking it up takes longer than skipping other accounts' rows, unless those are more.
    """
    if connection.vendor == "postgresql":
        yield f"{table} item", []
        return
    terms = search_index.terms_of(patterns, search.limits.suffixes)
    has_limits = search.below or search.limits[1:] != Limits()[1:]
    most = MOST_COMPARED_TO_LIMITS if has_limits else MOST_COMPARED
    join = f"({{}} LIMIT {most}) candidate CROSS JOIN {table} item ON item.id = candidate.id"
    if not terms:
        newest = f"SELECT id FROM {table} WHERE account_id = %s ORDER BY id DESC"  # noqa: S608
        yield join.format(newest), [search.account.pk]
        return
    index = f"{table}_search"
    matching = f"SELECT rowid AS id FROM {index} WHERE {index} MATCH %s ORDER BY rowid DESC"  # noqa: S608
    yield join.format(matching), [terms]
    if Account.objects.exclude(pk=search.account.pk).exists():
        yield join.format(matching), [f"{terms} AND {search_index.mark_of(search.account)}"]
