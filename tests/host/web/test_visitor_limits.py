"""Who gets a thread. The tests count slots, without any threads."""

from host.web.visitor_limits import HEALTH_SLOTS, ConnectionSlots, Visitor, VisitorKind


def count_taken(slots: ConnectionSlots, visitor: Visitor, tries: int) -> int:
    """Return how many of the tries got a slot."""
    return sum(slots.take(visitor) is not None for _ in range(tries))


def strangers(slots: ConnectionSlots) -> int:
    return sum(count_taken(slots, Visitor(f"203.0.113.{number}"), 300) for number in range(9))


def test_strangers_get_a_quarter_per_network_and_three_quarters_together():
    slots = ConnectionSlots(256)
    assert count_taken(slots, Visitor("192.0.2.1"), 300) == 64
    assert strangers(slots) == 128


def test_signed_in_people_use_threads_that_strangers_leave():
    slots = ConnectionSlots(256)
    strangers(slots)
    assert count_taken(slots, Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300) == 64
    assert (
        count_taken(ConnectionSlots(256), Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300) == 256
    )


def test_health_checks_are_answered_when_all_threads_are_taken():
    slots = ConnectionSlots(256)
    strangers(slots)
    count_taken(slots, Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300)
    assert count_taken(slots, Visitor("203.0.113.1", VisitorKind.HEALTH_CHECK), 300) == 1
    others = [Visitor(f"198.51.100.{number}", VisitorKind.HEALTH_CHECK) for number in range(20)]
    assert sum(count_taken(slots, other, 5) for other in others) == HEALTH_SLOTS - 1


def test_a_released_slot_is_free_for_the_next_request():
    slots, visitor = ConnectionSlots(4), Visitor("192.0.2.1")
    claim = slots.take(visitor)
    assert slots.take(visitor) is None
    slots.give_back(claim)
    assert slots.take(visitor) is not None


def test_the_smallest_server_has_a_slot_for_each_kind():
    slots = ConnectionSlots(4)
    assert strangers(slots) == 3
    assert count_taken(slots, Visitor("192.0.2.1", VisitorKind.SIGNED_IN), 5) == 1
    assert count_taken(slots, Visitor("192.0.2.1", VisitorKind.HEALTH_CHECK), 5) == 1
