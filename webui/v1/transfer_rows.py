"""Read the rows of transfers, except those that are unchanged: of thousands, few change."""

from collections.abc import Iterable
from typing import Any

from msgspec import Raw

from webui.v1 import answers, records
from webui.v1.records import Transfer

MOST_BYTES = 8 * 2**20


class TransferRows:
    """Transfers by the bytes of their rows. Those of the last answer stay in memory."""

    def __init__(self) -> None:
        self._by_content: dict[bytes, Transfer] = {}

    def read(self, rows: Iterable[Any]) -> list[Transfer | None]:
        by_content: dict[bytes, Transfer] = {}
        size_bytes = 0
        transfers = []
        for row in rows:
            if isinstance(row, Raw):
                content = bytes(row)
                transfer = self._by_content.get(content) or transfer_of(answers.parse_json(content))
                size_bytes += len(content)
                if transfer and size_bytes <= MOST_BYTES:
                    by_content[content] = transfer
            else:
                transfer = transfer_of(row)
            transfers.append(transfer)
        self._by_content = by_content
        return transfers


def transfer_of(row: Any) -> Transfer | None:
    return records.transfer(row) if isinstance(row, dict) else None
