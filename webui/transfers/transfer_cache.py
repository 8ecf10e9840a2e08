"""A cache of all transfers for all processes: requested once, shown to everyone."""

import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from common.storage.sqlite_cache import SQLiteCache
from webui.transfers.groups import Groups, Totals, group_transfers, moved_keys, totals_of
from webui.transfers.states import DONE, CachedTransfer
from webui.v1.errors import Failure

OLDEST_SECONDS = 30 * 24 * 3600
MOST_KEYS_AT_ONCE = 500
TRANSFERS = msgspec.json.Decoder(list[CachedTransfer])
Version = tuple[str, str, int]

SCHEMA = """
CREATE TABLE IF NOT EXISTS cached_list (
    service TEXT PRIMARY KEY, epoch TEXT, number INTEGER, ordered INTEGER, changes INTEGER,
    seen_changes INTEGER, asked_at REAL, read_at REAL, failures INTEGER, failure TEXT,
    etag TEXT, totals TEXT, groups TEXT, space_used INTEGER, space_max INTEGER, writes INTEGER,
    queue TEXT
);
CREATE TABLE IF NOT EXISTS transfer (
    service TEXT, key TEXT, number INTEGER, arrived INTEGER, facts TEXT,
    PRIMARY KEY (service, key)
);
CREATE TABLE IF NOT EXISTS cleared (
    service TEXT, key TEXT, clearing TEXT, facts TEXT, PRIMARY KEY (service, key)
);
CREATE INDEX IF NOT EXISTS cached_number ON transfer (service, number);
"""
# The columns are the fields of `CachedList`.
LIST = """
SELECT epoch, number, ordered, changes > seen_changes AS is_changed, asked_at, read_at, failures,
    failure, etag, totals, groups, space_used AS space_used_bytes, space_max AS space_max_bytes
FROM cached_list WHERE service = ?
"""


@dataclass(frozen=True)
class CachedList:
    """The cached list of a service's transfers.

    `number` grows with each visible change. `ordered` is the last number at which the set of
    transfers or their order changed. `is_changed`: we changed something since the last poll.
    """

    epoch: str
    number: int
    ordered: int
    is_changed: bool
    asked_at: float
    read_at: float
    failures: int
    failure: str
    etag: str | None
    totals: Totals
    groups: Groups
    space_used_bytes: int | None
    space_max_bytes: int | None

    @property
    def free_bytes(self) -> int | None:
        used, whole = self.space_used_bytes, self.space_max_bytes
        return None if used is None or whole is None else max(whole - used, 0)


class TransferCache:
    """A cache of what the service reports about transfers, for all processes of one machine.

    Guarantee: one process at a time polls the service (`refresh_lock`, which expires if its process
    dies). All processes show the result with the same numbers, so that a browser may ask any of
    them what is new since a number. A poll never undoes what we changed ourselves after it began.
    Losing the file loses the observations of the last minute and no more.

    Reason: two processes with separate caches would poll twice and count changes differently.

    Cost: a tick without changes reads one row, 0.2 ms; a poll writes the rows that changed.
    """

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._cache = SQLiteCache(path, SCHEMA, CachedTransfer._fields, clock)
        self._clock = clock
        # All transfers of a list, as of a version, which any write changes.
        self._latest: tuple[Version | None, Mapping[str, CachedTransfer]] = (None, {})

    def now(self) -> float:
        return self._clock()

    # Reading

    def find_list(self, service: str) -> CachedList | None:
        """Return the list, or None if no poll has ever succeeded."""
        with self._cache.open() as connection:
            row = connection.execute(LIST, (service,)).fetchone()
        if row is None or not row["read_at"]:
            return None
        totals = Totals(*json.loads(row["totals"]))
        return CachedList(**dict(row) | {"totals": totals, "groups": groups_of(row)})

    def of_keys(self, service: str, keys: Sequence[str]) -> dict[str, CachedTransfer]:
        transfers: dict[str, CachedTransfer] = {}
        for start in range(0, len(keys), MOST_KEYS_AT_ONCE):
            some = keys[start : start + MOST_KEYS_AT_ONCE]
            places = ", ".join("?" * len(some))
            transfers |= self._find(f"key IN ({places})", service, *some)
        return transfers

    def since(self, service: str, number: int) -> dict[str, CachedTransfer]:
        return self._find("number > ?", service, number)

    def arrived_since(self, service: str, number: int) -> dict[str, CachedTransfer]:
        return self._find("number > ? AND arrived > ?", service, number, number)

    def _find(self, condition: str, *values: object) -> dict[str, CachedTransfer]:
        with self._cache.open() as connection:
            return read(connection, f"service = ? AND {condition}", values)

    def all(self, service: str) -> Mapping[str, CachedTransfer]:
        """Return all transfers, in the order in which the last poll saved them."""
        with self._cache.open() as connection:
            row = self._row(connection, service)
            return self._load_transfers(connection, row) if row else {}

    def _load_transfers(
        self, connection: sqlite3.Connection, row: sqlite3.Row
    ) -> Mapping[str, CachedTransfer]:
        """Return all transfers of a list, from memory unless another process has written."""
        version, transfers = self._latest
        if version != version_of(row):
            stored = read(connection, "service = ?", (row["service"],))
            queue = json.loads(row["queue"])
            transfers = {key: stored.pop(key) for key in queue if key in stored} | stored
            self._latest = version_of(row), transfers
        return transfers

    # Keeping

    def save(
        self,
        service: str,
        cached_transfers: Sequence[CachedTransfer],
        etag: str | None,
        changes: int,
    ) -> None:
        """Save the result of a poll, unless we changed something since `changes` was read.

        The transfers come in the order of the service's queue.
        """
        with self._cache.transact() as connection:
            row = self._row_or_new(connection, service)
            if row["changes"] != changes:
                return
            fresh = {each.key: each for each in cached_transfers}
            self._write(connection, row, fresh, etag)
            version = version_of(self._row_or_new(connection, service))
        # Not before the commit, which may fail.
        self._latest = version, fresh

    def _write(
        self,
        connection: sqlite3.Connection,
        row: sqlite3.Row,
        fresh: dict[str, CachedTransfer],
        etag: str | None,
    ) -> None:
        service, now, number = row["service"], self._clock(), row["number"] + 1
        stored = self._load_transfers(connection, row)
        changed = [each for key, each in fresh.items() if each != stored.get(key)]
        groups, queue = json.dumps(group_transfers(fresh.values())), json.dumps(list(fresh))
        has_order = groups == row["groups"]
        moved = [] if queue == row["queue"] else moved_keys(json.loads(row["queue"]), list(fresh))
        has_news = any(is_news(stored.get(each.key), each) for each in changed)
        is_back = bool(row["failure"])
        if has_order and not has_news and not is_back and not moved:
            number -= 1
        forget(connection, service, stored.keys() - fresh.keys())
        write(connection, service, number, stored, changed)
        renumber(connection, service, number, moved)
        connection.execute(
            "UPDATE cached_list SET number = ?, ordered = ?, seen_changes = ?, read_at = ?,"
            " failures = 0, failure = '', etag = ?, totals = ?, groups = ?, queue = ?,"
            " writes = writes + 1"
            " WHERE service = ?",
            (
                number,
                row["ordered"] if has_order else number,
                row["changes"],
                now,
                etag,
                json.dumps(totals_of(list(fresh.values()), now)),
                groups,
                queue,
                service,
            ),
        )

    def fail(self, service: str, failure: Failure) -> None:
        """Record a failed poll; the time of the last successful one stays."""
        reason = f"{type(failure).__name__} {failure.reason}"
        with self._cache.transact() as connection:
            row = self._row_or_new(connection, service)
            is_news = row["failure"] != reason
            connection.execute(
                "UPDATE cached_list SET failure = ?, failures = failures + 1, number = number + ?,"
                " seen_changes = changes WHERE service = ?",
                (reason, is_news, service),
            )

    def change(self, service: str, gone: Iterable[str] = ()) -> None:
        """Record that we changed something ourselves: the next reader waits for a new poll."""
        with self._cache.transact() as connection:
            self._change(connection, service, set(gone))

    def _change(self, connection: sqlite3.Connection, service: str, gone: set[str]) -> None:
        row = self._row_or_new(connection, service)
        groups = json.dumps(groups_of(row).without(gone))
        forget(connection, service, gone)
        connection.execute(
            "UPDATE cached_list SET changes = changes + 1, writes = writes + 1, etag = NULL,"
            " failures = 0, number = number + 1,"
            " ordered = CASE WHEN ? THEN number + 1 ELSE ordered END, groups = ?"
            " WHERE service = ?",
            (bool(gone), groups, service),
        )

    def clear(self, service: str, keys: Iterable[str], clearing: str) -> None:
        """Remove these from the list. The latest clearing can be undone."""
        cleared = set(keys)
        with self._cache.transact() as connection:
            connection.execute("DELETE FROM cleared WHERE service = ?", (service,))
            connection.executemany(
                "INSERT INTO cleared SELECT service, key, ?, facts FROM transfer"
                " WHERE service = ? AND key = ?",
                [(clearing, service, key) for key in cleared],
            )
            self._change(connection, service, cleared)

    def find_cleared(self, service: str, clearing: str) -> list[CachedTransfer]:
        """Return what `restore` would restore."""
        with self._cache.open() as connection:
            return [
                *read(
                    connection, "service = ? AND clearing = ?", (service, clearing), "cleared"
                ).values()
            ]

    def restore(self, service: str, clearing: str) -> None:
        """Undo a clearing, unless there was another one since."""
        with self._cache.transact() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO transfer SELECT service, key, ?, 0, facts FROM cleared"
                " WHERE service = ? AND clearing = ?",
                (self._row_or_new(connection, service)["number"] + 1, service, clearing),
            )
            connection.execute(
                "DELETE FROM cleared WHERE service = ? AND clearing = ?", (service, clearing)
            )
            self._change(connection, service, set())

    def save_space(self, service: str, used_bytes: int | None, whole: int | None) -> None:
        with self._cache.open() as connection:
            connection.execute(
                "UPDATE cached_list SET space_used = ?, space_max = ? WHERE service = ?",
                (used_bytes, whole, service),
            )

    def refresh_lock(self, service: str) -> AbstractContextManager[bool]:
        return self._cache.refresh_lock(service)

    def begin_poll(self, service: str) -> int:
        """Record that a poll begins. Return how often we changed something, for `save`."""
        with self._cache.transact() as connection:
            changes: int = self._row_or_new(connection, service)["changes"]
            connection.execute(
                "UPDATE cached_list SET asked_at = ? WHERE service = ?", (self._clock(), service)
            )
        return changes

    # Rows

    def _row_or_new(self, connection: sqlite3.Connection, service: str) -> sqlite3.Row:
        connection.execute(
            "INSERT OR IGNORE INTO cached_list VALUES"
            " (?, ?, 1, 1, 0, 0, 0, 0, 0, '', NULL, ?, ?, NULL, NULL, 0, '[]')",
            (service, secrets.token_hex(3), json.dumps(Totals()), json.dumps(Groups())),
        )
        row = self._row(connection, service)
        assert row is not None  # noqa: S101  It was made above.
        return row

    @staticmethod
    def _row(connection: sqlite3.Connection, service: str) -> sqlite3.Row | None:
        row: sqlite3.Row | None = connection.execute(
            "SELECT * FROM cached_list WHERE service = ?", (service,)
        ).fetchone()
        return row

    def prune(self) -> None:
        """Delete services that were last polled more than 30 days ago."""
        oldest = self._clock() - OLDEST_SECONDS
        with self._cache.transact() as connection:
            old = "SELECT service FROM cached_list WHERE asked_at < ?"
            for table in ("transfer", "cleared", "cached_list"):
                connection.execute(f"DELETE FROM {table} WHERE service IN ({old})", (oldest,))  # noqa: S608


def version_of(row: sqlite3.Row) -> Version:
    return row["service"], row["epoch"], row["writes"]


def groups_of(row: sqlite3.Row) -> Groups:
    return Groups(*json.loads(row["groups"]))


def read(
    connection: sqlite3.Connection,
    condition: str,
    values: tuple[object, ...],
    table: Literal["transfer", "cleared"] = "transfer",
) -> dict[str, CachedTransfer]:
    """Parse all rows as one piece of JSON: 2,000 small ones would take three times as long."""
    query = f"SELECT key, facts FROM {table} WHERE {condition}"  # noqa: S608
    rows = connection.execute(query, values).fetchall()
    transfers = TRANSFERS.decode(f"[{','.join(row['facts'] for row in rows)}]")
    return {row["key"]: transfer for row, transfer in zip(rows, transfers, strict=True)}


def is_news(before: CachedTransfer | None, after: CachedTransfer) -> bool:
    return before is None or before.shown != after.shown


def write(
    connection: sqlite3.Connection,
    service: str,
    number: int,
    stored: Mapping[str, CachedTransfer],
    changed: Iterable[CachedTransfer],
) -> None:
    """Write the rows that changed. Rows that show nothing new keep their number."""
    for each in changed:
        before = stored.get(each.key)
        facts = json.dumps(each, ensure_ascii=False, separators=(",", ":"))
        if is_news(before, each):
            has_arrived = before is not None and before.state != DONE and each.state == DONE
            connection.execute(
                "INSERT INTO transfer VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " number = excluded.number, facts = excluded.facts,"
                " arrived = max(arrived, excluded.arrived)",
                (service, each.key, number, number if has_arrived else 0, facts),
            )
        else:
            connection.execute(
                "UPDATE transfer SET facts = ? WHERE service = ? AND key = ?",
                (facts, service, each.key),
            )


def renumber(
    connection: sqlite3.Connection, service: str, number: int, keys: Iterable[str]
) -> None:
    """Count rows as changed that show nothing new: a page that lacks one may show it now."""
    connection.executemany(
        "UPDATE transfer SET number = ? WHERE service = ? AND key = ?",
        [(number, service, key) for key in keys],
    )


def forget(connection: sqlite3.Connection, service: str, keys: Iterable[str]) -> None:
    connection.executemany(
        "DELETE FROM transfer WHERE service = ? AND key = ?", [(service, key) for key in keys]
    )
