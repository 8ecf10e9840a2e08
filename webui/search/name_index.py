"""The names of everything at a service that can't search, so that the site can.

The worker collects them (`crawl`) as long as people search. They are in the database, since the
machine that collects them needn't be the one that searches. Losing them costs only another crawl.

SQLite has a table of trigrams beside the entries, which triggers keep up to date. PostgreSQL
has an index on their texts.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.expressions import RawSQL

from common.batches import batches
from common.search_text import in_quotes, patterns_of, search_text, trigrams_of
from webui.connection.connection import Service
from webui.library.entries import FILE, FOLDER, ROOT, Entry
from webui.library.indexed_folders import MOST_LEVELS, forget
from webui.models import HeldDelete, IndexedEntry, IndexedFolder, NameIndex
from webui.search.coverage import Coverage
from webui.v1.own_records import FoundEntry, Moment, OwnId, SearchResult

MOST_FOUND, MOST_COUNTED = 200, 1_000
# Of what SQLite's index finds, the rows that were read last.
MOST_COMPARED, MOST_COMPARED_TO_LIMITS = 10_000, 50_000
# The trigrams of kinds, as migration 0020 writes them.
KIND_TRIGRAMS = {FOLDER: 3 * chr(0xE000), FILE: 3 * chr(0xE001)}
TRIGRAMS = (
    "SELECT rowid FROM webui_indexedentry_search WHERE webui_indexedentry_search MATCH %s"
    " ORDER BY rowid DESC LIMIT %s"
)
# UNION ends where a folder contains itself.
BELOW = (
    "WITH RECURSIVE below(folder) AS ("
    " SELECT folder FROM webui_indexedfolder WHERE folder = %s"
    " UNION SELECT inner_one.folder FROM webui_indexedfolder inner_one"
    " JOIN below ON inner_one.parent = below.folder"
    ") SELECT id FROM webui_indexedfolder WHERE folder IN (SELECT folder FROM below)"
)
WANTED_STEP = timedelta(minutes=1)
LIFETIME = timedelta(days=30)
NOTHING = SearchResult((), (), has_more=False, count=0, has_uncounted=False)


def want(service: Service, now: datetime) -> Coverage:
    """Have the worker collect the names for a while. Return how much it has read."""
    index = NameIndex.objects.filter(service=service.key).first() or new_index(service, now)
    NameIndex.objects.filter(pk=index.pk, wanted_at__lt=now - WANTED_STEP).update(wanted_at=now)
    folders = IndexedFolder.objects.filter(index=index)
    return Coverage(folders.filter(is_read=True).count(), folders.count(), index.is_full)


def new_index(service: Service, now: datetime) -> NameIndex:
    """Return the index, and delete any other: a search then needn't distinguish services."""
    with transaction.atomic():
        index, is_new = NameIndex.objects.get_or_create(
            service=service.key, defaults={"wanted_at": now, "next_at": now}
        )
        if is_new:
            NameIndex.objects.exclude(pk=index.pk).delete()
            IndexedFolder.objects.create(index=index, folder=ROOT, due_at=now)
    return index


# Searching


def search(service: Service, query: Mapping[str, str], now: datetime) -> SearchResult:
    """Return what matches, the newest first. The query is that of our own service's search.

    Names in which each word of the query begins a word come before others. Without a query, the
    newest files are returned. Unless only folders are requested, no folder is within limits.
    """
    words = query.get("q", "")
    has_words = bool(patterns_of(words, at_start=True))
    if words.strip() and not has_words:
        return NOTHING
    limits, below, only = limits_of(query, now), below_of(query), query.get("only", "")
    most = int(query.get("limit", MOST_FOUND))
    entries = IndexedEntry.objects.select_related("folder__index").filter(limits, below)
    find = partial(find_best, entries, words=words, has_limits=bool(limits or below))
    has_both = has_words and not only and not limits
    folders = find(FOLDER) if has_both or only == "folders" else []
    files = find(FILE) if only != "folders" else []
    counts = len(folders), len(files)
    return SearchResult(
        shown_entries(service, folders[:most]),
        shown_entries(service, files[:most]),
        has_more=max(counts) > most,
        count=sum(min(each, MOST_COUNTED) for each in counts),
        has_uncounted=max(counts) > MOST_COUNTED,
    )


def below_of(query: Mapping[str, str]) -> Q:
    if "folder_id" not in query:
        return Q()
    folders = RawSQL(BELOW, [query["folder_id"]])  # noqa: S611  The text is a constant.
    return Q(folder__in=folders)


def limits_of(query: Mapping[str, str], now: datetime) -> Q:
    limits = Q()
    for suffix in query.get("types", "").split(","):
        limits |= Q(search_text__endswith=f" {suffix} ") if suffix else Q()
    if "min_size" in query:
        limits &= Q(size_bytes__gte=int(query["min_size"]))
    if "days" in query:
        limits &= Q(added__gte=(now - timedelta(days=int(query["days"]))).timestamp())
    return limits


def find_best(
    entries: QuerySet[IndexedEntry], kind: str, *, words: str, has_limits: bool
) -> list[IndexedEntry]:
    """Return the best matches; one too many if not all are counted."""
    entries, most = entries.filter(kind=kind), MOST_COUNTED + 1
    if not patterns_of(words, at_start=True):
        return list(entries.order_by("-added", "-pk")[:most])
    # The sum keeps SQLite from reading all names in the order of their dates.
    newest = entries.order_by((F("added") + 0).desc(), "-pk")
    most_compared = MOST_COMPARED_TO_LIMITS if has_limits else MOST_COMPARED
    matches: dict[IndexedEntry, None] = {}
    for at_start in (True, False):
        patterns = patterns_of(words, at_start=at_start)
        contains = [Q(search_text__contains=pattern) for pattern in patterns]
        compared = candidates(kind, patterns, most_compared)
        matches |= dict.fromkeys(newest.filter(compared, *contains)[:most])
        if len(matches) >= most:
            break
    return list(matches)[:most]


def candidates(kind: str, patterns: Iterable[str], most: int) -> Q:
    """Return which rows to compare with the patterns: all on PostgreSQL, which uses its index."""
    if connection.vendor == "postgresql":
        return Q()
    trigrams = [each for pattern in patterns for each in trigrams_of(pattern)]
    terms = " AND ".join(map(in_quotes, [*trigrams, KIND_TRIGRAMS[kind]]))
    rows = IndexedEntry.objects.filter(kind=kind).order_by("-pk").values("pk")[:most]
    matches = RawSQL(TRIGRAMS, [terms, most])  # noqa: S611  The text is a constant.
    return Q(pk__in=matches if trigrams else rows)


def shown_entries(service: Service, entries: Iterable[IndexedEntry]) -> tuple[FoundEntry, ...]:
    """Return the entries without those that are about to be deleted, or are in such a folder."""
    ours = [each for each in entries if each.folder.index.service == service.key]
    held_rows = HeldDelete.objects.filter(service=service.key)
    held = set(held_rows.values_list("kind", "entry_id"))
    above = folders_above(service, {each.folder.folder for each in ours})
    return tuple(
        found_entry(each, above[each.folder.folder])
        for each in ours
        if (each.kind, each.entry_id) not in held
        and not any((FOLDER, folder) in held for folder, _name in above[each.folder.folder])
    )


def found_entry(row: IndexedEntry, above: Sequence[tuple[str, str]]) -> FoundEntry:
    return FoundEntry(
        id=OwnId(row.entry_id),
        name=row.name,
        folder_id=OwnId(row.folder.folder),
        folder_path="/".join(name for _folder, name in above),
        size_bytes=row.size_bytes,
        updated_at=Moment.fromtimestamp(row.added, UTC) if row.added else None,
    )


def folders_above(service: Service, folders: Collection[str]) -> dict[str, list[tuple[str, str]]]:
    """Return ids and names from below the root down to each folder. One query reads one level of
    all paths."""
    rows = IndexedFolder.objects.filter(index__service=service.key)
    facts: dict[str, tuple[str, str]] = {ROOT: ("", "")}
    level = set(folders) - facts.keys()
    for _level in range(MOST_LEVELS):
        if not level:
            break
        here = rows.filter(folder__in=level).values_list("folder", "parent", "name")
        facts |= {folder: (parent, name) for folder, parent, name in here}
        level = {facts[each][0] for each in level if each in facts} - facts.keys()
    return {folder: [*chain_above(folder, facts)][::-1] for folder in folders}


def chain_above(folder: str, facts: Mapping[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for _level in range(MOST_LEVELS):
        if folder == ROOT or folder not in facts:
            return
        parent, name = facts[folder]
        yield folder, name
        folder = parent


# Saving


def save(folder: IndexedFolder, entries: Sequence[Entry], room: int) -> int:
    """Update the index of a folder to its latest listing, and return by how many rows it grows: by
    `room` at most.

    A folder may have very many entries, and a long write to SQLite keeps all others waiting. So
    write them in batches. If this ends halfway, the next read of the folder completes it.
    """
    stored = IndexedEntry.objects.filter(folder=folder)
    rows = list(stored.values_list("pk", "kind", "entry_id", "name", "size_bytes", "added"))
    listed = {(each.kind, each.id): each for each in entries[: max(len(rows) + room, 0)]}
    gone = []
    for pk, kind, entry_id, *facts in rows:
        entry = listed.get((kind, entry_id))
        if entry and facts == [entry.name, entry.size_bytes, entry.added or 0]:
            del listed[kind, entry_id]
        else:
            gone.append(pk)
    for some in batches(gone):
        IndexedEntry.objects.filter(pk__in=some).delete()
    for few in batches(listed.values()):
        IndexedEntry.objects.bulk_create([row_of(folder, each) for each in few])
    return len(listed) - len(gone)


def row_of(folder: IndexedFolder, entry: Entry) -> IndexedEntry:
    return IndexedEntry(
        folder=folder,
        kind=entry.kind,
        entry_id=entry.id,
        name=entry.name,
        search_text=search_text(entry.name),
        size_bytes=entry.size_bytes,
        added=entry.added or 0,
    )


def save_folders(folder: IndexedFolder, entries: Iterable[Entry], room: int, now: datetime) -> int:
    """Save the folders in a folder, and return how many rows were written. New folders are due at
    once."""
    index = folder.index
    inner = {each.id: each.name for each in entries if each.is_folder and each.id != ROOT}
    inside = IndexedFolder.objects.filter(index=index, parent=folder.folder)
    before = dict(inside.values_list("folder", "name"))
    forget(index.service, before.keys() - inner.keys())
    rows = [
        IndexedFolder(index=index, folder=each, parent=folder.folder, name=name, due_at=now)
        for each, name in inner.items()
        if before.get(each) != name
    ][: max(room, 0)]
    for some in batches(rows):
        IndexedFolder.objects.bulk_create(
            some,
            update_conflicts=True,
            unique_fields=["index", "folder"],
            update_fields=["parent", "name"],
        )
    return len(rows)


def prune(now: datetime) -> None:
    NameIndex.objects.filter(wanted_at__lte=now - LIFETIME).delete()
