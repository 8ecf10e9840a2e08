"""Write what a worker observed, in one batch per round."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from msgspec import to_builtins

from common.batches import batches
from service import notifications
from service.accounts import traffic
from service.accounts.traffic import NOTHING, Bytes
from service.details import add_to_log
from service.models import Account, Transfer, TransferDetails, TransferFiles
from service.worker.leases import Lease
from service.worker.runs.run import Run

EVERY = timedelta(seconds=1)


class ProgressWriter:
    """A writer of progress. Its writes need the lease, and never undo what others decided."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self._wrote_at = datetime.min.replace(tzinfo=UTC)

    def write(self, runs: Iterable[Run], now: datetime) -> None:
        """Write any changes in one transaction per second, or at once if a state is new."""
        changed_runs = [run for run in runs if run.has_news]
        has_just = timedelta(0) <= now - self._wrote_at < EVERY
        is_due = not has_just or any("state" in run.changes for run in changed_runs)
        if changed_runs and is_due:
            self._wrote_at = now
            self._write(changed_runs, now)

    def _write(self, changed_runs: list[Run], now: datetime) -> None:
        with transaction.atomic():
            # Update the accounts before the transfers, in the order of every other change.
            listed_runs = [run for run in changed_runs if run.has_progress]
            account_ids = {run.transfer.account_id for run in listed_runs}
            accounts = Account.objects.filter(pk__in=account_ids)
            accounts.update(transfers_revision=F("transfers_revision") + 1, changed_at=now)
            for run in listed_runs:
                self._rows_of(run).update(**run.changes, updated_at=now)
                if run.percents:
                    files = TransferFiles.objects.filter(transfer__in=self._rows_of(run))
                    files.update(percents=run.percents)
                if "state" in run.changes:
                    # A failed transfer, for example, needs its space no longer.
                    notifications.notify(run.transfer.account_id)
            self._write_traffic(listed_runs, accounts, now)
            for runs in batches(run for run in changed_runs if run.has_details):
                self._write_details(runs, now)
        for run in changed_runs:
            run.changes, run.percents, run.log, run.swarm = {}, (), [], None
            run.traffic = NOTHING

    @staticmethod
    def _write_traffic(runs: list[Run], accounts: QuerySet[Account], now: datetime) -> None:
        sums: dict[int, Bytes] = defaultdict(Bytes)
        for run in runs:
            sums[run.transfer.account_id] = sums[run.transfer.account_id].plus(run.traffic)
        if any(map(any, sums.values())):
            # Some accounts may have been removed; the others are locked since they were updated.
            traffic.add({pk: sums[pk] for pk in accounts.values_list("pk", flat=True)}, now)

    def _write_details(self, runs: list[Run], now: datetime) -> None:
        """Write logs and swarms, which no list shows, so that no list changes."""
        ids = [run.id for run in runs]
        # People may have deleted some. They can't meanwhile: locked like the account.
        locked = self._lease.transfers().filter(pk__in=ids).select_for_update()
        left_ids = set(locked.values_list("pk", flat=True))
        rows = TransferDetails.objects.in_bulk(left_ids, field_name="transfer_id")
        for run in runs:
            if run.id in left_ids:
                row = rows.setdefault(run.id, TransferDetails(transfer_id=run.id))
                row.pk = None  # PostgreSQL finds it by its transfer alone
                row.log = to_builtins(add_to_log(row.log, run.log, int(now.timestamp())))
                if run.swarm:
                    row.swarm, row.swarm_at = to_builtins(run.swarm), now
        columns = ["log", "swarm", "swarm_at"]
        TransferDetails.objects.bulk_create(
            rows.values(), update_conflicts=True, unique_fields=["transfer"], update_fields=columns
        )

    def close(self, run: Run, now: datetime) -> None:
        """Write a run's last changes, and give up the transfer."""
        with transaction.atomic():
            if run.has_news:
                self._write([run], now)
            self._lease.transfers().filter(pk=run.id).update(leased_by="")

    def _rows_of(self, run: Run) -> QuerySet[Transfer]:
        rows = self._lease.transfers().filter(pk=run.id)
        if run.transfer.state == Transfer.State.DONE:
            return rows.filter(state=Transfer.State.DONE)
        return rows.exclude(state__in=(*Transfer.OVER, Transfer.State.STOPPED))
