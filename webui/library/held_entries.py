"""Hide entries whose deletion is held until undo expires."""

from dataclasses import replace

from webui.connection.connection import Service
from webui.library.snapshot import Snapshot
from webui.library.sorting import Contents
from webui.models import HeldDelete


def without_held(service: Service, snapshot: Snapshot) -> Snapshot:
    """Return the folder without held entries."""
    if service.can_restore:
        return snapshot
    rows = HeldDelete.objects.filter(service=service.key, folder=snapshot.folder)
    keys = {f"{kind}-{entry_id}" for kind, entry_id in rows.values_list("kind", "entry_id")}
    if not keys:
        return snapshot
    entries = [entry for entry in snapshot.contents.entries if entry.key not in keys]
    return replace(snapshot, contents=Contents(entries))
