"""The state of a transfer, derived from what the service reports now and reported before."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from webui.v1.records import DOWNLOADED_PERCENT, Explanation, Transfer

MINUTE_SECONDS = 60
QUIET_SECONDS = 120
LEAST_SPAN_SECONDS = 10
STEP_SECONDS = 4
LONGEST_LEFT_SECONDS = 99 * 3600
# How far off an estimate may be, as a share of the time left, before a new one replaces it.
STEADY_PART = 0.25
LONGEST_SAID = 200
# Besides failures, the only reason that the service explains.
RETRYING = "retrying"
# Why a torrent stopped: a person wants to choose its files.
CHOOSE_FILES = "choose_files"
YOUNG_SECONDS = 60
GONE_SECONDS = 60

QUEUED, METADATA, DOWNLOADING, STALLED = "queued", "metadata", "downloading", "stalled"
MOVING, DONE, NO_ROOM, FAILED = "moving", "done", "no_room", "failed"
STOPPED, GONE = "stopped", "gone"

# Pages show lower numbers first. A transfer that is paused while it waits stays where it is.
BANDS = {
    **dict.fromkeys((MOVING, DOWNLOADING, METADATA), 0),
    **dict.fromkeys((STALLED, NO_ROOM), 1),
    **dict.fromkeys((QUEUED, STOPPED), 2),
}
PAUSABLE = frozenset({METADATA, DOWNLOADING, STALLED, NO_ROOM, QUEUED})
ENDED = frozenset({DONE, FAILED, GONE})
ACTIVE = frozenset({METADATA, DOWNLOADING, MOVING})


class SentRecord(NamedTuple):
    """What the site remembers of a transfer that it sent, named like the columns of its row."""

    pk: int
    added_at: datetime
    transfer_id: str = ""
    info_hash: str = ""
    title: str = ""
    source_kind: str = ""
    beginning: str = ""  # of the source
    folder_id: str = ""
    size_bytes: int | None = None
    by: str | None = None
    state: str = ""
    reason: str = ""
    done_at: datetime | None = None
    created_folder_id: str = ""
    created_file_id: str = ""

    @property
    def key(self) -> str:
        return f"t{self.transfer_id}" if self.transfer_id else f"s{self.pk}"


class CachedTransfer(NamedTuple):
    """A transfer as cached for all processes, in plain values.

    Times are seconds of our own clock: the service's may be wrong.
    """

    key: str
    id: str
    name: str
    hash: str = ""
    state: str = QUEUED
    reason: str = ""
    details: Explanation | None = None
    said: str = ""  # about a failure or retry, in the service's own words
    percent: float = 0
    size_bytes: int = 0
    rate: int = 0  # bytes per second
    peers: int = 0
    left_seconds: int | None = None
    quiet_minutes: int = 0
    since: float = 0
    downloaded_at: float | None = None
    ended_at: float | None = None
    folder: str = ""
    file: str = ""
    place: str = ""  # the name of the folder it was meant for, once it is done
    into: str = ""  # the ID of that folder, if the site sent it
    row: int = 0  # the id of the `Sent` row, if the site sent it
    kind: str = ""
    host: str = ""
    by: str = ""
    added_at: float = 0
    is_listed: bool = True
    file_count: int = 0  # of a torrent; 0 if the service doesn't say
    chooses: bool = False  # It stops once its files are known.
    # Pages show none of the fields below.
    advanced_at: float = 0
    asked_at: float = 0
    ends_at: float = 0
    steps: tuple[tuple[float, int], ...] = ()

    @property
    def shown(self) -> tuple[object, ...]:
        return self[: self._fields.index("advanced_at")]

    @property
    def is_ended(self) -> bool:
        return self.state in ENDED

    @property
    def awaits_choice(self) -> bool:
        return self.state == STOPPED and self.reason == CHOOSE_FILES

    @property
    def may_limit(self) -> bool:
        return bool(self.id) and self.kind != "zip" and not self.is_ended

    @property
    def done_bytes(self) -> int:
        return int(self.size_bytes * min(self.percent, 100) / 100)

    def is_lively(self, now: float) -> bool:
        """Return whether something is likely to change within seconds."""
        is_young = 0 <= now - self.since < YOUNG_SECONDS
        return self.state in ACTIVE or (self.state == QUEUED and is_young)


def combine(
    transfer: Transfer, before: CachedTransfer | None, sent: SentRecord | None, now: float
) -> CachedTransfer:
    """Return a transfer as the service reports it now, combined with earlier reports."""
    key = f"t{transfer.id}"
    old = before or CachedTransfer(key, transfer.id, "", since=now, advanced_at=now)
    percent = transfer.progress_percent
    has_advanced = percent > old.percent or (transfer.size_bytes > 0 and old.size_bytes == 0)
    # A transfer that waits for its turn can't advance.
    has_advanced |= transfer.state == QUEUED
    fresh = old._replace(
        key=key,
        id=transfer.id,
        name=transfer.name or old.name or (sent.title if sent else ""),
        hash=transfer.hash or old.hash,
        percent=percent,
        size_bytes=transfer.size_bytes or old.size_bytes,
        rate=transfer.rate_bytes_per_second,
        peers=peers_of(transfer),
        details=transfer.details,
        advanced_at=now if has_advanced else min(old.advanced_at, now),
        folder=transfer.folder_created_id or old.folder,
        file=transfer.file_created_id or old.file,
        file_count=transfer.file_count,
        chooses=transfer.chooses,
    )
    state = state_of(transfer, fresh, now)
    is_explained = state == FAILED or transfer.reason == RETRYING
    warning = transfer.warnings[0][:LONGEST_SAID] if is_explained and transfer.warnings else ""
    fresh = fresh._replace(state=state, reason=transfer.reason or "", said=warning)
    return apply_time(apply_record(fresh, sent), now)


def peers_of(transfer: Transfer) -> int:
    """Return the larger count of peers: each generation of v1 counts something else."""
    return max(transfer.peers_connected, transfer.downloading_from)


def state_of(transfer: Transfer, cached: CachedTransfer, now: float) -> str:
    """Return the service's own state, or the one that follows from its numbers."""
    state = transfer.state or derived_state(transfer, cached, now)
    is_quiet = now - cached.advanced_at >= QUIET_SECONDS and not transfer.rate_bytes_per_second
    if is_quiet and state in (DOWNLOADING, METADATA):
        return STALLED
    return state


def derived_state(transfer: Transfer, cached: CachedTransfer, now: float) -> str:
    if transfer.is_moved:
        return DONE
    if transfer.is_downloaded:
        return MOVING
    if transfer.is_stopped:
        return STOPPED
    if transfer.size_bytes == 0 and transfer.progress_percent == 0:
        return METADATA
    has_begun = transfer.progress_percent > 0 or transfer.rate_bytes_per_second > 0
    is_quiet = now - cached.advanced_at >= QUIET_SECONDS
    return DOWNLOADING if has_begun or peers_of(transfer) else STALLED if is_quiet else QUEUED


def is_timed(transfer: Transfer, cached: CachedTransfer) -> bool:
    """Return whether time alone may change what `combine` returns."""
    if cached.state == QUEUED:
        return transfer.state is None  # then derived: it stalls
    return cached.state in (METADATA, DOWNLOADING, STALLED)


def apply_record(cached: CachedTransfer, sent: SentRecord | None) -> CachedTransfer:
    if sent is None:
        return cached
    return cached._replace(
        row=sent.pk,
        into=sent.folder_id,
        kind=sent.source_kind,
        host=host_of(sent),
        by=sent.by or "",
        added_at=sent.added_at.timestamp(),
        size_bytes=cached.size_bytes or sent.size_bytes or 0,
    )


def host_of(sent: SentRecord) -> str:
    if sent.source_kind != "url":
        return ""
    return sent.beginning.partition("://")[2].partition("/")[0].rpartition("@")[2][:80]


def apply_time(cached: CachedTransfer, now: float) -> CachedTransfer:
    """Update what depends on time alone, even if the service reports nothing new."""
    steps = steps_of(cached, now)
    is_running = cached.state == DOWNLOADING
    quiet = max(now - cached.advanced_at, 0)
    ends_at = end_of(cached, steps, now) if is_running else 0
    had_all = cached.percent >= DOWNLOADED_PERCENT
    downloaded_at = cached.downloaded_at or (now if had_all and not cached.is_ended else None)
    return cached._replace(
        steps=steps if is_running else (),
        ends_at=ends_at,
        left_seconds=int(ends_at - now) if ends_at else None,
        rate=(cached.rate or pace(steps)) if is_running else 0,
        quiet_minutes=coarse(quiet) if cached.state == STALLED else 0,
        downloaded_at=downloaded_at,
        ended_at=(cached.ended_at or now) if cached.is_ended else None,
    )


def coarse(seconds: float) -> int:
    """Return whole minutes, or after an hour whole hours, so that waiting rows rarely change."""
    minutes = int(seconds // 60)
    return minutes if minutes < 60 else minutes // 60 * 60


def steps_of(cached: CachedTransfer, now: float) -> tuple[tuple[float, int], ...]:
    """Return the last minute's observations; drop them if clock or progress goes backwards."""
    done_bytes = cached.done_bytes
    steps = [step for step in cached.steps if 0 <= now - step[0] <= MINUTE_SECONDS]
    if steps and steps[-1][1] > done_bytes:
        steps = []
    if steps and now - steps[-1][0] < STEP_SECONDS:
        return tuple(steps)
    return (*steps, (now, done_bytes))


def pace(steps: tuple[tuple[float, int], ...]) -> int:
    """Return bytes per second, or 0 until there are enough observations."""
    if len(steps) < 2:
        return 0
    span = steps[-1][0] - steps[0][0]
    return int((steps[-1][1] - steps[0][1]) / span) if span >= LEAST_SPAN_SECONDS else 0


def end_of(cached: CachedTransfer, steps: tuple[tuple[float, int], ...], now: float) -> float:
    """Return when the transfer will be done, or 0 while that is unknown.

    Estimate by observed progress, never by the service's rate. Keep the previous estimate until it
    is well off, so that the time left counts down instead of jumping.
    """
    speed = pace(steps)
    if not speed or not cached.size_bytes:
        return 0
    seconds = (cached.size_bytes - cached.done_bytes) // speed
    if seconds > LONGEST_LEFT_SECONDS:
        return 0
    is_close = abs(now + seconds - cached.ends_at) <= STEADY_PART * seconds
    return cached.ends_at if is_close and cached.ends_at >= now else now + seconds


def derive_unlisted(sent: SentRecord, before: CachedTransfer | None, now: float) -> CachedTransfer:
    """Return what is known about a transfer that the service doesn't list, or no longer lists."""
    old = before or CachedTransfer(
        sent.key,
        sent.transfer_id,
        sent.title,
        sent.info_hash,
        state=sent.state or QUEUED,
        reason=sent.reason,
        since=now,
        ended_at=sent.done_at.timestamp() if sent.done_at else None,
        folder=sent.created_folder_id,
        file=sent.created_file_id,
        advanced_at=now,
    )
    return apply_time(apply_record(old._replace(is_listed=False), sent), now)


def update_by_id(
    cached: CachedTransfer,
    transfer: Transfer | None,
    names: Mapping[str, tuple[str, str]],
    now: float,
) -> CachedTransfer:
    """Update a transfer that was requested by its id. `names`: the root's entries, by name."""
    if transfer is not None:
        current = combine(transfer, cached, None, now)
        return current._replace(is_listed=False, asked_at=now, key=cached.key)
    kind, its_id = names.get(cached.name, ("", ""))
    if its_id:
        return mark_done(cached, kind, its_id, now)._replace(asked_at=now)
    is_young = bool(cached.row) and 0 <= now - cached.added_at < GONE_SECONDS
    state = cached.state if is_young else GONE
    return apply_time(cached._replace(state=state, asked_at=now), now)


def mark_done(cached: CachedTransfer, kind: str, its_id: str, now: float) -> CachedTransfer:
    folder, file = (its_id, "") if kind == "folder" else ("", its_id)
    return apply_time(cached._replace(state=DONE, percent=101, folder=folder, file=file), now)


def locate_by_name(
    cached: CachedTransfer, names: Mapping[str, tuple[str, str]], now: float
) -> CachedTransfer:
    """Find the result in the root by its title, for services that don't report where it is."""
    if cached.state != DONE or cached.folder or cached.file:
        return cached
    kind, its_id = names.get(cached.name, ("", ""))
    return mark_done(cached, kind, its_id, now) if its_id else cached
