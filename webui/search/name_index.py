"""The names of everything at a service that can't search, so that the site can.

The worker collects them (`crawl`) as long as people search. They are in the database, since the
machine that collects them needn't be the one that searches. Losing them costs only another crawl.

SQLite has a table of trigrams beside the entries, which triggers keep up to date. PostgreSQL
has an index on their texts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL

from webui.connection.connection import Service
from webui.library.entries import FILE, FOLDER, ROOT, Entry
from webui.models import HeldDelete, IndexedEntry, IndexedFolder, NameIndex
from webui.search.coverage import Coverage
from webui.search.search_text import patterns_of, search_text, trigrams_of
from webui.v1.records import FoundEntry, SearchResult

Value = TypeVar("Value")

MOST_FOUND = 200
# Of what SQLite's index finds, the rows that were read last.
MOST_COMPARED = 10_000
TRIGRAMS = (
    "SELECT rowid FROM webui_indexedentry_search WHERE webui_indexedentry_search MATCH %s"
    " ORDER BY rowid DESC LIMIT %s"
)
MOST_LEVELS = 64
ROWS_AT_ONCE = 500
WANTED_STEP = timedelta(minutes=1)
LIFETIME = timedelta(days=30)
NOTHING = SearchResult((), (), has_more=False)


def want(service: Service, now: datetime) -> Coverage:
    """Have the worker collect the names for a while. Return how far it is."""
    with transaction.atomic():
        index, is_new = NameIndex.objects.get_or_create(
            service=service.key, defaults={"wanted_at": now, "next_at": now}
        )
        if is_new:
            # Of one service at a time, so that a search needn't tell them apart.
            NameIndex.objects.exclude(pk=index.pk).delete()
            IndexedFolder.objects.create(index=index, folder=ROOT, due_at=now)
    NameIndex.objects.filter(pk=index.pk, wanted_at__lt=now - WANTED_STEP).update(wanted_at=now)
    folders = IndexedFolder.objects.filter(index=index)
    return Coverage(folders.filter(is_read=True).count(), folders.count())


# Searching


def search(service: Service, query: Mapping[str, str], now: datetime) -> SearchResult:
    """Return what matches, the newest first. The query is that of our own service's search.

    Names in which each word of the query begins a word come before others. Without a query, the
    newest files are returned. No folder is within limits.
    """
    words = query.get("q", "")
    has_words = bool(patterns_of(words, at_start=True))
    if words.strip() and not has_words:
        return NOTHING
    entries = IndexedEntry.objects.select_related("folder__index")
    limits = limits_of(query, now)
    most = int(query.get("limit", MOST_FOUND))
    with_words = has_words and not limits
    folders = ranked(entries.filter(kind=FOLDER), words, most + 1) if with_words else []
    files = ranked(entries.filter(limits, kind=FILE), words, most + 1)
    shown = [
        each
        for each in without_held(service, folders[:most] + files[:most])
        if each.folder.index.service == service.key
    ]
    entry_of = found_entries(service, shown)
    return SearchResult(
        tuple(entry_of[each] for each in shown if each.kind == FOLDER),
        tuple(entry_of[each] for each in shown if each.kind == FILE),
        has_more=max(len(folders), len(files)) > most,
    )


def limits_of(query: Mapping[str, str], now: datetime) -> Q:
    limits = Q()
    for suffix in query.get("types", "").split(","):
        limits |= Q(search_text__endswith=f" {suffix} ") if suffix else Q()
    if "min_size" in query:
        limits &= Q(size_bytes__gte=int(query["min_size"]))
    if "days" in query:
        limits &= Q(added__gte=(now - timedelta(days=int(query["days"]))).timestamp())
    return limits


def ranked(entries: QuerySet[IndexedEntry], words: str, most: int) -> list[IndexedEntry]:
    if not patterns_of(words, at_start=True):
        return list(entries.order_by("-added", "-pk")[:most])
    # The sum keeps SQLite from reading all names in the order of their dates.
    newest = entries.order_by((F("added") + 0).desc(), "-pk")
    matches: dict[IndexedEntry, None] = {}
    for at_start in (True, False):
        patterns = patterns_of(words, at_start=at_start)
        contains = [Q(search_text__contains=pattern) for pattern in patterns]
        matches |= dict.fromkeys(newest.filter(candidates(patterns), *contains)[:most])
        if len(matches) >= most:
            break
    return list(matches)[:most]


def candidates(patterns: Collection[str]) -> Q:
    """Return what to compare with the patterns: PostgreSQL finds it by itself."""
    if connection.vendor == "postgresql":
        return Q()
    terms = " AND ".join(in_quotes(each) for pattern in patterns for each in trigrams_of(pattern))
    rows = IndexedEntry.objects.order_by("-pk").values("pk")[:MOST_COMPARED]
    matches = RawSQL(TRIGRAMS, [terms, MOST_COMPARED])  # noqa: S611  The text is a constant.
    return Q(pk__in=matches if terms else rows)


def in_quotes(trigram: str) -> str:
    return '"{}"'.format(trigram.replace('"', '""'))


def without_held(service: Service, entries: Iterable[IndexedEntry]) -> list[IndexedEntry]:
    rows = HeldDelete.objects.filter(service=service.key)
    held = set(rows.values_list("kind", "entry_id"))
    return [each for each in entries if (each.kind, each.entry_id) not in held]


def found_entries(
    service: Service, entries: Collection[IndexedEntry]
) -> dict[IndexedEntry, FoundEntry]:
    paths = paths_of(service, {each.folder.folder for each in entries})
    return {
        each: FoundEntry(
            each.entry_id,
            each.name,
            each.size_bytes,
            datetime.fromtimestamp(each.added, UTC) if each.added else None,
            each.folder.folder,
            paths[each.folder.folder],
        )
        for each in entries
    }


def paths_of(service: Service, folders: Collection[str]) -> dict[str, str]:
    """Return the path of each folder. One query reads one level of all paths."""
    rows = IndexedFolder.objects.filter(index__service=service.key)
    facts: dict[str, tuple[str, str]] = {ROOT: ("", "")}
    level = set(folders) - facts.keys()
    for _level in range(MOST_LEVELS):
        if not level:
            break
        here = rows.filter(folder__in=level).values_list("folder", "parent", "name")
        facts |= {folder: (parent, name) for folder, parent, name in here}
        level = {facts[each][0] for each in level if each in facts} - facts.keys()
    return {folder: "/".join([*names_above(folder, facts)][::-1]) for folder in folders}


def names_above(folder: str, facts: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    for _level in range(MOST_LEVELS):
        if folder == ROOT or folder not in facts:
            return
        folder, name = facts[folder]
        yield name


# Keeping


def save(folder: IndexedFolder, entries: Iterable[Entry]) -> None:
    """Make the index of one folder what the service has just listed."""
    listed = {(each.kind, each.id): each for each in entries}
    with transaction.atomic():
        gone = []
        for row in IndexedEntry.objects.filter(folder=folder):
            entry = listed.get((row.kind, row.entry_id))
            if entry and facts_of(row) == (entry.name, entry.size_bytes, entry.added or 0):
                del listed[row.kind, row.entry_id]
            else:
                gone.append(row.pk)
        for pks in in_batches(gone):
            IndexedEntry.objects.filter(pk__in=pks).delete()
        rows = [
            IndexedEntry(
                folder=folder,
                kind=each.kind,
                entry_id=each.id,
                name=each.name,
                search_text=search_text(each.name),
                size_bytes=each.size_bytes,
                added=each.added or 0,
            )
            for each in listed.values()
        ]
        IndexedEntry.objects.bulk_create(rows, ROWS_AT_ONCE)


def facts_of(row: IndexedEntry) -> tuple[str, int | None, int]:
    return row.name, row.size_bytes, row.added


def save_folders(folder: IndexedFolder, entries: Iterable[Entry], now: datetime) -> None:
    """Know the folders in a folder. Those that are new are due at once."""
    inner = {each.id: each.name for each in entries if each.is_folder and each.id != ROOT}
    others = IndexedFolder.objects.filter(index=folder.index)
    with transaction.atomic():
        before = dict(others.filter(parent=folder.folder).values_list("folder", "name"))
        forget(folder.index, before.keys() - inner.keys())
        rows = [
            IndexedFolder(
                index=folder.index, folder=each, parent=folder.folder, name=name, due_at=now
            )
            for each, name in inner.items()
            if before.get(each) != name
        ]
        IndexedFolder.objects.bulk_create(
            rows,
            ROWS_AT_ONCE,
            update_conflicts=True,
            unique_fields=["index", "folder"],
            update_fields=["parent", "name"],
        )


def forget(index: NameIndex, folders: Collection[str]) -> None:
    """Forget folders and all that is below them."""
    rows = IndexedFolder.objects.filter(index=index)
    for _level in range(MOST_LEVELS):
        if not folders:
            break
        below: list[str] = []
        for some in in_batches(list(folders)):
            below += rows.filter(parent__in=some).values_list("folder", flat=True)
            rows.filter(folder__in=some).delete()
        folders = below


def in_batches(values: list[Value]) -> Iterator[list[Value]]:
    for start in range(0, len(values), ROWS_AT_ONCE):
        yield values[start : start + ROWS_AT_ONCE]


def prune(now: datetime) -> None:
    NameIndex.objects.filter(wanted_at__lte=now - LIFETIME).delete()
