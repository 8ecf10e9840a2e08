"""Cached encodings of transfers: unchanged transfers aren't encoded again."""

import json

import pytest

from service.api import records
from service.api.encoded import transfers as module
from service.api.encoded.transfers import EncodedTransfers
from service.http import responses
from service.transfers.transfers import TransferRow
from tests.cases import each_case

ROW = TransferRow(
    7, 1, "Sintel", 10**9, "a" * 40, "", "stopped", "", "", "", 12.5, 0, 0, 0, 0, 0, 0, 0, None,
    None, 0, False, "2026-11-25 10:00:00",
)  # fmt: skip
ROWS = [ROW._replace(id=number) for number in range(1, 4)]
PATHS = {1: "Films"}


@pytest.fixture
def recorded(monkeypatch) -> list[int]:
    """Collect the ids of the transfers that are encoded."""
    ids, record = [], records.transfer_record
    monkeypatch.setattr(
        records, "transfer_record", lambda row, path: ids.append(row.id) or record(row, path)
    )
    return ids


def sent(encoded: EncodedTransfers, rows: list[TransferRow], paths=PATHS) -> list[dict]:
    return json.loads(responses.encode(encoded.encode(rows, paths)))


def test_encoded_transfers_equal_their_records():
    expected = [records.transfer_record(each, "Films") for each in ROWS]
    encoded = EncodedTransfers()
    for _time in range(2):
        assert responses.encode(encoded.encode(ROWS, PATHS)) == responses.encode(expected)


@each_case("column", [name for name in TransferRow._fields if name != "id"])
def test_changed_transfers_are_encoded_again(recorded, column):
    del recorded[:]
    encoded = EncodedTransfers()
    sent(encoded, ROWS)
    value = getattr(ROW, column)
    other = f"{value}1" if isinstance(value, str) else (value or 0) + 1
    changed = ROWS[1]._replace(**{column: other})
    sent(encoded, [ROWS[0], changed, ROWS[2]])
    assert recorded == [1, 2, 3, 2]


def test_a_renamed_or_deleted_folder_is_reported(recorded):
    encoded = EncodedTransfers()
    sent(encoded, ROWS[:1])
    assert sent(encoded, ROWS[:1], {1: "Movies"})[0]["folder"] == "Movies"
    assert sent(encoded, ROWS[:1], {})[0]["folder"] == ""
    assert recorded == [1, 1, 1]


def test_no_more_than_the_most_stay_in_memory(monkeypatch, recorded):
    # Ten thousand rows would take long.
    monkeypatch.setattr(module, "MOST_ROWS", 2)
    encoded = EncodedTransfers()
    assert sent(encoded, ROWS) == sent(encoded, ROWS)
    assert recorded == [1, 2, 3, 3]
