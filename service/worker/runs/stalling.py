"""Decide when a transfer is stalled, and why."""

from datetime import datetime, timedelta

from service.worker.runs.run import Run

# While connected to peers that have the torrent but send nothing: they may be busy with others.
LONG_PATIENCE = timedelta(minutes=10)
# Without peers, while other transfers wait for a slot: the run keeps looking without a slot.
SHORT_PATIENCE = timedelta(seconds=10)


def patience_with(run: Run, patience: timedelta, *, others_wait: bool) -> timedelta:
    """Return how long a run may stall before it gives up its slot."""
    has_nobody = not run.is_fetch and not run.transfer.peers_connected
    return min(patience, SHORT_PATIENCE) if others_wait and has_nobody else patience


def why_stalled(run: Run, now: datetime, patience: timedelta) -> str:
    """Return the reason for stalling, or an empty string."""
    if run.is_obtainable:
        run.obtainable_at = now
    if now - run.obtainable_at >= patience:
        return "not_available" if run.transfer.peers_connected else "no_peers"
    return "nothing_comes" if now - run.moved_at >= LONG_PATIENCE else ""
