"""Whose transfers received and sent how much. Only the site knows who added which."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from common.batches import batches
from webui.connection.connection import Service
from webui.models import Sent
from webui.v1.own_records import TransferBytes


class PersonTraffic(NamedTuple):
    name: str  # empty: others, such as other programs
    received_bytes: int
    sent_bytes: int


def by_person(service: Service, transfers: Iterable[TransferBytes]) -> list[PersonTraffic]:
    """Return the sums of each person who added some of the transfers, the largest first."""
    sums: dict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for some in batches(transfers):
        names = names_of(service, [each.id for each in some])
        for each in some:
            name = names.get(each.id) or ""
            received, sent = sums[name]
            sums[name] = received + each.received_bytes, sent + each.sent_bytes
    rows = [PersonTraffic(name, *sizes) for name, sizes in sums.items()]
    return sorted(rows, key=lambda each: -each.received_bytes - each.sent_bytes)


def names_of(service: Service, ids: Iterable[str]) -> dict[str, str | None]:
    rows = Sent.objects.filter(connection=service.key, transfer_id__in=ids)
    return dict(rows.values_list("transfer_id", "added_by__username"))
