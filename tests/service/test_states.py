import pytest

from service import states
from service.models import Transfer


@pytest.mark.parametrize("state", Transfer.State.values)
def test_every_state_is_drawn(state):
    assert state in states.LEADS_TO


@pytest.mark.parametrize("state", Transfer.OVER)
def test_what_is_over_stays_over(state):
    assert not any(states.may_become(state, other) for other in Transfer.State.values)


def test_all_but_the_queue_can_be_reached_and_lead_to_an_end():
    running = set(Transfer.State.values) - set(Transfer.OVER)
    assert all(states.may_become(state, "failed") for state in running)
    assert {other for state in running for other in states.LEADS_TO[state]} >= {"moving", "done"}
    assert [state for state in running if states.may_become(state, "done")] == ["moving"]
