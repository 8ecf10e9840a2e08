"""Cache the encoded rows of the last list of transfers: of thousands, few change."""

from collections.abc import Iterable, Mapping
from typing import cast

from msgspec import Raw

from service.api import records
from service.http import responses
from service.library import library
from service.models import Account
from service.transfers import transfers
from service.transfers.transfers import TransferRow

MOST_ROWS = 10_000


class EncodedTransfers:
    """The rows of the last list, encoded once while they stay the same.

    Cost: a row takes about 1 KB of memory. It is compared as a whole, so none can be stale.
    """

    def __init__(self) -> None:
        self._by_row: dict[tuple[TransferRow, str], Raw] = {}

    def encode(self, rows: Iterable[TransferRow], path_of: Mapping[int, str]) -> list[Raw]:
        by_row: dict[tuple[TransferRow, str], Raw] = {}
        raws = []
        for row in rows:
            # A folder that was deleted between the queries has no path; its transfers go to the
            # root.
            key = (row, path_of.get(row.folder_id, ""))
            raw = self._by_row.get(key)
            if raw is None:
                raw = Raw(responses.encode(records.transfer_record(*key)))
            if len(by_row) < MOST_ROWS:
                by_row[key] = raw
            raws.append(raw)
        self._by_row = by_row
        return raws


encoded = EncodedTransfers()


def running_records(account: Account) -> list[records.ListedTransfer]:
    rows = transfers.list_rows(account)
    path_of = library.paths_of({row.folder_id for row in rows})
    # The description of v1 needs their type.
    return cast("list[records.ListedTransfer]", encoded.encode(rows, path_of))
