"""Transfers that a poll left as they were: judging them again would change nothing."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.cases import each_case
from webui.transfers import states
from webui.transfers.states import SentRecord
from webui.transfers.steady import SteadyTransfers
from webui.v1 import records

START = 1_800_000_000.0
TIMES = (0, 2, 4, 60, 119, 121, 200, 4_000)
TOLD = records.transfer(
    {
        "id": 7,
        "name": "Sintel",
        "progress": 12,
        "size": 10**9,
        "download_rate": 0,
        "state": "stopped",
    }
)
SENT = SentRecord(
    3,
    datetime.fromtimestamp(0, UTC),
    "7",
    title="Sintel",
    source_kind="url",
    beginning="https://example.org/a",
    by="alice",
)


@each_case("state", [*sorted(records.STATES), None])
@pytest.mark.parametrize("percent", [0.0, 12.0, 100.0, 101.0])
def test_incremental_and_full_evaluation_of_a_transfer_agree(state, percent):
    row = replace(TOLD, state=state, progress_percent=percent)
    steady, before, expected = SteadyTransfers(), None, None
    for seconds in TIMES:
        now = START + seconds
        (before,) = steady.combine_all([(row, before, SENT)], now)
        expected = states.combine(row, expected, SENT, now)
        assert before == expected


@pytest.fixture
def judged(monkeypatch) -> list[str]:
    """Collect the ids of the transfers that are judged."""
    ids, combine = [], states.combine
    monkeypatch.setattr(
        "webui.transfers.states.combine",
        lambda row, *rest: ids.append(row.id) or combine(row, *rest),
    )
    return ids


def test_only_changed_rows_are_reevaluated(judged):
    steady, others = SteadyTransfers(), [replace(TOLD, id=str(number)) for number in range(5)]
    before = dict.fromkeys(others)
    for seconds in range(3):
        reports = [(each, before[each], None) for each in others]
        before = dict(zip(others, steady.combine_all(reports, START + seconds), strict=True))
    del judged[:]
    moved = replace(others[3], progress_percent=13.0)
    reports = [(moved if each is others[3] else each, before[each], None) for each in others]
    assert steady.combine_all(reports, START + 9)[3].percent == 13
    assert judged == ["3"]


@each_case("part", ["transfer", "before", "sent"])
def test_any_new_fact_is_evaluated(judged, part):
    steady, before = SteadyTransfers(), None
    for seconds in range(3):
        (before,) = steady.combine_all([(TOLD, before, SENT)], START + seconds)
    changed = {
        "transfer": (replace(TOLD, reason="no_peers"), before, SENT),
        "before": (TOLD, before._replace(name="Cosmos"), SENT),
        "sent": (TOLD, before, SENT._replace(by="bob")),
    }[part]
    del judged[:]
    assert steady.combine_all([changed], START + 3) == [states.combine(*changed, START + 3)]
    assert judged == ["7", "7"]
