"""Write what a worker observed, in one batch per round."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from service import notifications
from service.models import Account, Transfer, TransferFiles
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
        changed_runs = [run for run in runs if run.changes or run.percents]
        has_just = timedelta(0) <= now - self._wrote_at < EVERY
        is_due = not has_just or any("state" in run.changes for run in changed_runs)
        if changed_runs and is_due:
            self._wrote_at = now
            self._write(changed_runs, now)

    def _write(self, changed_runs: list[Run], now: datetime) -> None:
        with transaction.atomic():
            # Update the accounts before the transfers, in the order of every other change.
            account_ids = {run.transfer.account_id for run in changed_runs}
            accounts = Account.objects.filter(pk__in=account_ids)
            accounts.update(transfers_revision=F("transfers_revision") + 1, changed_at=now)
            for run in changed_runs:
                self._rows_of(run).update(**run.changes, updated_at=now)
                if run.percents:
                    files = TransferFiles.objects.filter(transfer__in=self._rows_of(run))
                    files.update(percents=run.percents)
                if "state" in run.changes:
                    # A failed transfer, for example, needs its space no longer.
                    notifications.notify(run.transfer.account_id)
        for run in changed_runs:
            run.changes, run.percents = {}, ()

    def close(self, run: Run, now: datetime) -> None:
        """Write a run's last changes, and give up the transfer."""
        with transaction.atomic():
            if run.changes:
                self._write([run], now)
            self._lease.transfers().filter(pk=run.id).update(leased_by="")

    def _rows_of(self, run: Run) -> QuerySet[Transfer]:
        rows = self._lease.transfers().filter(pk=run.id)
        if run.transfer.state == Transfer.State.DONE:
            return rows.filter(state=Transfer.State.DONE)
        return rows.exclude(state__in=(*Transfer.OVER, Transfer.State.STOPPED))
