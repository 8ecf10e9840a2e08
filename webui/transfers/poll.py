"""Poll transfers: one request to the service for everyone who has the page open."""

import time
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Substr

from webui.connection.connection import Service, recent_failure
from webui.deleting import held_deletes
from webui.library import folders
from webui.library.entries import FILE, FOLDER, ROOT
from webui.models import Notice, Sent
from webui.models.notices import MEMBERS, OWNERS
from webui.storage_meter import is_short
from webui.transfers import states
from webui.transfers.states import DONE, FAILED, GONE, CachedTransfer, SentRecord
from webui.transfers.steady import SteadyTransfers
from webui.transfers.transfer_cache import CachedList, TransferCache
from webui.v1.errors import (
    Failure,
    Forbidden,
    NotFound,
    TooMany,
    Unauthorized,
    Unavailable,
    Unreadable,
)
from webui.v1.records import Listing, Transfer, Transfers, Unchanged

LIVELY_SECONDS, IDLE_SECONDS, LONGEST_PAUSE_SECONDS = 2, 15, 60
# Other programs add to our own service too, and asking it costs only a few milliseconds.
OWN_IDLE_SECONDS = 3
# How often the worker looks while nothing is to come; wake-ups and our own changes are sooner.
QUIET_SECONDS = 120
WAIT_SECONDS = 8
RECENT_SECONDS = 60
STEP_SECONDS = 0.05
MOST_SINGLE = 4
# Our own service answers each in a few milliseconds, and many may end between two looks.
MOST_OWN = 100
MOST_SHOWN = 10_000
SOURCE_BEGINNING = 300
LONGEST_TITLE = 1_024
FOLDER_GONE = "folder_gone"
TOLD = (DONE, FAILED)
KINDS: tuple[type[Failure], ...] = (Unreadable, Unauthorized, Forbidden, TooMany)

_steady = SteadyTransfers()


def store() -> TransferCache:
    return _store_at(settings.DATA_DIR / "transfers.sqlite3")


@cache
def _store_at(path: Path) -> TransferCache:
    return TransferCache(path)


# Polling


def refresh(service: Service, *, at_once: bool = False) -> CachedList:
    """Return the cached list; poll first if that is due and no one else is polling.

    `at_once`: someone has just opened the page. Raise Failure if nothing is known at all.
    """
    cached_list = store().find_list(service.key)
    if not is_due(service, cached_list, store().now(), at_once=at_once):
        return _require(cached_list)
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        with store().refresh_lock(service.key) as has_lock:
            if has_lock:
                return _refresh(service, at_once=at_once)
        cached_list = store().find_list(service.key)
        if (cached_list and not cached_list.is_changed) or time.monotonic() > deadline:
            return _require(cached_list)
        time.sleep(STEP_SECONDS)


def _require(cached_list: CachedList | None) -> CachedList:
    if cached_list is None:
        raise Unavailable("too_slow")
    return cached_list


def failure_of(cached_list: CachedList) -> Failure | None:
    kind, _space, reason = cached_list.failure.partition(" ")
    kinds: dict[str, type[Failure]] = {each.__name__: each for each in KINDS}
    return kinds.get(kind, Unavailable)(reason) if cached_list.failure else None


def running(service: Service) -> int:
    """Return how many transfers ran at the last poll, if that was recent or later polls failed.

    Never ask the service.
    """
    cached_list = store().find_list(service.key)
    if cached_list is None:
        return 0
    is_recent = 0 <= store().now() - cached_list.read_at < RECENT_SECONDS
    return cached_list.totals.running if is_recent or cached_list.failures else 0


def running_now(service: Service) -> int | None:
    """Return how many transfers run, for pages that are left open.

    While something runs, the worker's looks keep it fresh. Poll if that is due, but don't wait for
    anyone else who polls. Return None if nothing is known. Raise Failure if the first poll fails.
    """
    cached_list = store().find_list(service.key)
    is_away = cached_list is None and recent_failure(service.v1.health, datetime.now(UTC))
    if not is_away and is_due(service, cached_list, store().now()):
        with store().refresh_lock(service.key) as has_lock:
            if has_lock:
                cached_list = _refresh(service, at_once=False)
    return cached_list.totals.running if cached_list else None


def look(service: Service, *, is_woken: bool) -> bool:
    """Poll if that is due, whether or not a page is open, and return whether we did.

    `is_woken`: our own service has changed. Raise Failure if the first poll fails.
    """
    if not is_look_due(service, store().find_list(service.key), is_woken=is_woken):
        return False
    with store().refresh_lock(service.key) as has_lock:
        if has_lock:
            _refresh(service, at_once=True)
    return has_lock


def is_look_due(
    service: Service, cached_list: CachedList | None, *, is_woken: bool = False
) -> bool:
    now = store().now()
    if cached_list is None:
        return recent_failure(service.v1.health, datetime.now(UTC)) is None
    if not (is_woken or cached_list.is_changed or cached_list.groups.under_way):
        return not 0 <= now - cached_list.asked_at < QUIET_SECONDS
    return is_due(service, cached_list, now, at_once=is_woken)


def is_due(
    service: Service, cached_list: CachedList | None, now: float, *, at_once: bool = False
) -> bool:
    if cached_list is None or cached_list.is_changed:
        return True
    if at_once:
        pause = LIVELY_SECONDS
    elif cached_list.failures:
        pause = min(LIVELY_SECONDS * 2**cached_list.failures, LONGEST_PAUSE_SECONDS)
    elif cached_list.totals.is_lively:
        pause = LIVELY_SECONDS
    else:
        pause = OWN_IDLE_SECONDS if service.is_embedded else IDLE_SECONDS
    return not 0 <= now - cached_list.asked_at < pause


def _refresh(service: Service, *, at_once: bool) -> CachedList:
    """Poll, unless someone else has polled before we got the lock."""
    cached_list = store().find_list(service.key)
    if is_due(service, cached_list, store().now(), at_once=at_once):
        changes = store().begin_poll(service.key)
        try:
            _ask(service, cached_list, changes)
        except Failure as failure:
            store().fail(service.key, failure)
            if cached_list is None:
                raise
    return _require(store().find_list(service.key))


def _ask(service: Service, cached_list: CachedList | None, changes: int) -> None:
    answer = _answer_of(service, cached_list.etag if cached_list else None)
    if isinstance(answer, Listing) and answer.transfers is None:
        raise Unreadable("not_v1")
    before = store().all(service.key) if cached_list else {}
    sent_records = load_sent_records(service)
    now = store().now()
    names = names_of(answer) if isinstance(answer, Listing) else {}
    if not isinstance(answer, Unchanged):
        if cached_list:
            _tell_of_space(service, cached_list, answer, now)
        store().save_space(service.key, answer.space_used_bytes, answer.space_max_bytes)
    by_key = _combine_listed(answer, before, sent_records, now)
    others = _find_unlisted(by_key, before, sent_records, now)
    followed = _follow_unlisted(service, others, names, now)
    held = held_deletes.held_transfers(service)
    transfers = [
        states.locate_by_name(each, names, now)
        for each in (*by_key.values(), *followed)
        if each.id not in held
    ]
    if not service.is_embedded:
        # Other services list transfers in any order.
        transfers.sort(key=lambda each: (-each.since, each.key))
    by_row = {each.pk: each for each in sent_records}
    transfers = [_name_folder(service, each, by_row) for each in transfers][:MOST_SHOWN]
    _remember(service, transfers, by_row)
    _tell_owners(service, transfers, before)
    store().save(service.key, transfers, answer.etag or None, changes)


def _answer_of(service: Service, etag: str | None) -> Listing | Transfers | Unchanged:
    """Request all transfers: our own service lists them alone, others only reliably in the root."""
    if service.is_embedded:
        return service.v1.transfers(etag)
    return service.v1.listing(ROOT, etag)


def names_of(listing: Listing) -> dict[str, tuple[str, str]]:
    """Return the entries that transfers may have become, by name: services may report no more."""
    files = {each.name: (FILE, each.id) for each in listing.files}
    return files | {each.name: (FOLDER, each.id) for each in listing.folders}


def load_sent_records(service: Service) -> list[SentRecord]:
    """Return what the site sent, as plain values.

    For 2,000 rows, model objects would cost more than the rest of the poll.
    """
    return records_of(Sent.objects.filter(connection=service.key, cleared_at=None))


def records_of(rows: QuerySet[Sent]) -> list[SentRecord]:
    beginning, by = Substr("source", 1, SOURCE_BEGINNING), F("added_by__username")
    rows = rows.annotate(beginning=beginning, by=by).order_by("-pk")[:MOST_SHOWN]
    return [SentRecord._make(row) for row in rows.values_list(*SentRecord._fields)]


def _combine_listed(
    answer: Listing | Transfers | Unchanged,
    before: Mapping[str, CachedTransfer],
    sent_records: Sequence[SentRecord],
    now: float,
) -> dict[str, CachedTransfer]:
    by_id = {each.transfer_id: each for each in sent_records if each.transfer_id}
    without_id = [each for each in sent_records if not each.transfer_id]
    by_hash = {each.info_hash: each for each in without_id if each.info_hash}
    if isinstance(answer, Unchanged):
        return {
            key: states.apply_time(states.apply_record(each, by_id.get(each.id)), now)
            for key, each in before.items()
            if each.is_listed
        }
    reports = [
        (each, before.get(f"t{each.id}"), by_id.get(each.id) or by_hash.get(each.hash or ""))
        for each in answer.transfers or ()
    ]
    return {each.key: each for each in _steady.combine_all(reports, now)}


def _find_unlisted(
    by_key: Mapping[str, CachedTransfer],
    before: Mapping[str, CachedTransfer],
    sent_records: Sequence[SentRecord],
    now: float,
) -> list[CachedTransfer]:
    """Return unlisted transfers: those that the site sent, and those that were listed until now."""
    rows = {each.row for each in by_key.values()}
    ours = [each for each in sent_records if each.pk not in rows]
    others = {each.key: states.derive_unlisted(each, before.get(each.key), now) for each in ours}
    sent_rows = {each.pk for each in sent_records}
    for key, each in before.items():
        is_forgotten = each.row not in sent_rows if each.row else each.state == FAILED
        if key not in by_key and key not in others and not is_forgotten:
            others[key] = each._replace(is_listed=False)
    return list(others.values())


def _follow_unlisted(
    service: Service,
    others: Sequence[CachedTransfer],
    names: Mapping[str, tuple[str, str]],
    now: float,
) -> list[CachedTransfer]:
    """Request unlisted transfers that haven't ended, of a foreign service at most four at once.

    Those that were last requested longest ago come first.
    """
    open_ones = [each for each in others if not each.is_ended]
    chosen = sorted(open_ones, key=lambda each: each.asked_at)
    chosen = chosen[: MOST_OWN if service.is_embedded else MOST_SINGLE]
    answers = _request_each(service, chosen)
    followed = [
        states.update_by_id(each, answers[each.key], names, now) if each.key in answers else each
        for each in others
    ]
    return [each for each in followed if each.row or each.state != GONE]


def _request_each(
    service: Service, chosen: Sequence[CachedTransfer]
) -> Mapping[str, Transfer | None]:
    """Return the transfers by key, None if the service has none. Leave out failed requests.

    Our own service is called in this thread, which has a database connection.
    """
    request = partial(_request_one, service)
    if service.is_embedded or len(chosen) < 2:
        return ChainMap(*map(request, chosen))
    with ThreadPoolExecutor(MOST_SINGLE) as pool:
        return ChainMap(*pool.map(request, chosen))


def _request_one(service: Service, cached: CachedTransfer) -> dict[str, Transfer | None]:
    try:
        return {cached.key: service.v1.transfer(cached.id) if cached.id else None}
    except NotFound:
        return {cached.key: None}
    except Failure:
        return {}


def _name_folder(
    service: Service, cached: CachedTransfer, sent_records: Mapping[int, SentRecord]
) -> CachedTransfer:
    is_placed = cached.place or cached.reason == FOLDER_GONE
    if cached.state != DONE or is_placed:
        return cached
    sent = sent_records.get(cached.row)
    if not sent or sent.folder_id in ("", ROOT) or not service.takes_folder:
        return cached
    return cached._replace(place=folders.store().name_of(service.key, sent.folder_id))


def _remember(
    service: Service, transfers: Iterable[CachedTransfer], sent_records: Mapping[int, SentRecord]
) -> None:
    """Save what is new in the database: the cached list may be lost."""
    fresh = [(each, sent_records.get(each.row)) for each in transfers]
    news = [(each, sent) for each, sent in fresh if sent and has_news(sent, each)]
    if news:
        with transaction.atomic():
            for each, sent in news:
                _remember_one(service, each, sent)


def _remember_one(service: Service, each: CachedTransfer, sent: SentRecord) -> None:
    # Only if no one else saved it first, so that each ending is told once.
    rows = Sent.objects.filter(pk=each.row, state=sent.state)
    is_saved = rows.update(
        state=each.state,
        reason=each.reason,
        title=each.name[:LONGEST_TITLE],
        done_at=datetime.fromtimestamp(each.ended_at, UTC) if each.ended_at else None,
        created_folder_id=each.folder,
        created_file_id=each.file,
    )
    if is_saved and each.state in TOLD and each.state != sent.state:
        key = f"{service.key} s{each.row} {each.state} {each.ended_at}"
        Notice.tell(Q(user__sent=each.row), key, each.state, each.name)
    if each.id and not sent.transfer_id:
        others = Sent.objects.filter(connection=service.key, transfer_id=each.id)
        if not others.exists():
            Sent.objects.filter(pk=each.row).update(transfer_id=each.id)


def _tell_owners(
    service: Service, transfers: Iterable[CachedTransfer], before: Mapping[str, CachedTransfer]
) -> None:
    """Tell owners of what other programs added, as its first end of each kind is saved."""
    for each in transfers:
        if each.row or each.state not in TOLD:
            continue
        old = before.get(each.key)
        if old and not old.is_ended:
            Notice.tell(OWNERS, f"{service.key} {each.key} {each.state}", each.state, each.name)


def _tell_of_space(
    service: Service, cached_list: CachedList, answer: Listing | Transfers, now: float
) -> None:
    """Tell members when space runs out, at most once a day."""
    was_short = is_short(cached_list.space_used_bytes, cached_list.space_max_bytes)
    if not was_short and is_short(answer.space_used_bytes, answer.space_max_bytes):
        day = datetime.fromtimestamp(now, UTC).date()
        Notice.tell(MEMBERS, f"{service.key} space {day}", Notice.Kind.SPACE)


def has_news(sent: SentRecord, cached: CachedTransfer) -> bool:
    old_facts = (sent.state, sent.reason, sent.created_folder_id, sent.created_file_id)
    new_facts = (cached.state, cached.reason, cached.folder, cached.file)
    return old_facts != new_facts or sent.title != cached.name[:LONGEST_TITLE]
