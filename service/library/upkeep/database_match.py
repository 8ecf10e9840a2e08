"""Recognize a database that is older than the library beside it, or belongs to another one.

The library counts the batches of blobs that it has stored, and the database counts those that it
knows. The database counts in the transaction that writes the rows; the library follows before
anyone learns of the rows. So the database is never behind, unless an older copy replaced it. Then
it stays behind until the owner decides about the newer files.

The library also carries the mark of its database. A database that knows of files claims no library
without a mark: the library's disk isn't mounted, and new files would disappear below it.
"""

from contextlib import suppress
from enum import StrEnum

from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder

from service.errors import StoreAway
from service.models import Library
from service.store.blobs import Store, library_store

ONLY_ROW = 1


class Doubt(StrEnum):
    """Why the database can't be trusted to name every file in the library."""

    BEHIND = "behind"
    FOREIGN = "foreign"
    MISSING = "missing"


def doubt_about(store: Store) -> Doubt | None:
    if doubt := _doubt_by_mark(store):
        return doubt
    return Doubt.BEHIND if generation_of_database() < store.generation() else None


def refuse_other(store: Store, *, insists: bool = True) -> None:
    """Raise StoreAway unless the library is this database's: it may take no files then.

    Unless it `insists`, a store that was away a moment ago counts as away.
    """
    if _doubt_by_mark(store, insists=insists):
        raise StoreAway


def _doubt_by_mark(store: Store, *, insists: bool = False) -> Doubt | None:
    owner = store.owner(insists=insists)
    if owner is None and generation_of_database():
        return Doubt.MISSING
    is_own = owner == identity() or (owner is None and store.claim_for(identity()))
    return None if is_own else Doubt.FOREIGN


def identity() -> str:
    """Return the moment when this database's tables were made, which its copies share."""
    migrations = MigrationRecorder(connection).migration_qs.filter(app="service")
    return str(migrations.order_by("applied").values_list("applied", flat=True)[0])


def generation_of_database() -> int:
    return Library.objects.values_list("generation", flat=True).filter(pk=ONLY_ROW).first() or 0


def advance() -> None:
    """Count a batch, in the transaction that writes its rows."""
    store = library_store()
    # Ask the store before locking: every batch waits for the row, and a store that is away may take
    # seconds to fail.
    generation = store.generation()
    row, is_first = Library.objects.select_for_update().get_or_create(pk=ONLY_ROW)
    if is_first:
        refuse_other(store)
    if row.generation >= generation:
        row.generation += 1
        row.save(update_fields=["generation"])
        generation = row.generation
    else:
        # This database stays behind, and the newer database will be behind too if it comes back.
        generation += 1
    _follow(store, generation)


def accept(store: Store) -> None:
    """Trust the database from now on: the owner has decided about the newer files.

    Call it in the transaction that writes their rows.
    """
    row, _is_new = Library.objects.select_for_update().get_or_create(pk=ONLY_ROW)
    row.generation = max(row.generation, store.generation()) + 1
    row.save(update_fields=["generation"])
    _follow(store, row.generation)
    transaction.on_commit(lambda: store.hand_over(identity()))


def catch_up(store: Store) -> None:
    """Raise the library's count if a crash after a commit prevented that."""
    number = generation_of_database()
    if number > store.generation():
        store.reach_generation(number)


def _follow(store: Store, number: int) -> None:
    def follow() -> None:
        with suppress(StoreAway):
            store.reach_generation(number)

    # Robust: if the disk is full, the rows stay committed, and the next batch catches up.
    transaction.on_commit(follow, robust=True)
