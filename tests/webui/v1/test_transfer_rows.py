"""Rows of transfers: rows that were read before aren't parsed again."""

import json

from tests.cases import each_case
from webui.v1 import answers, records
from webui.v1 import transfer_rows as module
from webui.v1.transfer_rows import TransferRows

KEYS = ("transfers", "torrents")
ROWS = [{"id": number, "name": f"Film {number}", "progress": 5} for number in range(1, 4)]


def sent(rows: list[object]) -> list[object]:
    return answers.decode(json.dumps({"transfers": rows}).encode(), KEYS)["transfers"]


def test_a_row_that_is_the_same_is_read_once():
    rows = TransferRows()
    first = rows.read(sent(ROWS))
    second = rows.read(sent([ROWS[0], ROWS[1] | {"progress": 6}, ROWS[2]]))
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, False, True]
    assert second[1].progress_percent == 6


def test_only_the_rows_of_the_last_answer_stay():
    rows = TransferRows()
    (first,) = rows.read(sent(ROWS[:1]))
    rows.read(sent([]))
    (again,) = rows.read(sent(ROWS[:1]))
    assert again == first
    assert again is not first


def test_rows_beyond_the_space_are_read_each_time(monkeypatch):
    # Eight megabytes of rows would take seconds.
    monkeypatch.setattr(module, "MOST_BYTES", len(json.dumps(ROWS[0])) + 1)
    rows = TransferRows()
    first, second = rows.read(sent(ROWS)), rows.read(sent(ROWS))
    assert first == second
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, False, False]


@each_case(
    "row",
    [
        '{"id": 1, "progress": NaN}',
        '{"id": 1, "progress": 1e999, "name": "Sintel"}',
        '{"id": 1, "name": "\\ud800"}',
        f'{{"id": 1, "size": 1{"0" * 5_000}}}',
        '{"progress": 5}',
        "[]",
        "null",
        '"text"',
    ],
)
@each_case("keys", [KEYS, ()])
def test_rows_read_one_by_one_equal_those_of_a_full_parse(row, keys):
    raw = f'{{"transfers": [{row}, {{"id": 2, "progress": 5}}], "space_max": 7}}'.encode()
    answer = answers.decode(raw, keys)
    expected = answers.decode(raw)
    assert answer["space_max"] == 7
    read = TransferRows().read(answer["transfers"])
    assert read == [
        records.transfer(each) if type(each) is dict else None for each in expected["transfers"]
    ]


@each_case("value", ["null", "7", '{"id": 1}', '"text"'])
def test_values_other_than_lists_decode_like_plain_json(value):
    raw = f'{{"transfers": {value}}}'.encode()
    assert answers.decode(raw, KEYS) == json.loads(raw)
