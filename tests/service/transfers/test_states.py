from service.models import Transfer
from service.transfers import states
from tests.cases import each_case


@each_case("state", Transfer.State.values)
def test_every_state_is_drawn(state):
    assert state in states.LEADS_TO


@each_case("state", Transfer.OVER)
def test_ended_transfers_stay_ended(state):
    assert not any(states.may_become(state, other) for other in Transfer.State.values)


@each_case("state", Transfer.State.values)
def test_only_problems_have_a_reason(state):
    needs_one = state in ("stalled", "no_room", "failed")
    assert states.may_be_for(state, "") is not needs_one
    words = {word for each in states.REASONS.values() for word in each} | {"nonsense"}
    # People pause without a reason.
    has_any = needs_one or state == "stopped"
    assert any(states.may_be_for(state, word) for word in words) is has_any
    assert not states.may_be_for(state, "nonsense")


def test_all_but_the_queue_can_be_reached_and_lead_to_an_end():
    running = set(Transfer.State.values) - set(Transfer.OVER)
    assert all(states.may_become(state, "failed") for state in running)
    assert {other for state in running for other in states.LEADS_TO[state]} >= {"moving", "done"}
    assert [state for state in running if states.may_become(state, "done")] == ["moving"]
