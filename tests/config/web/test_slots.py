"""Who gets a thread. The tests count slots, without any threads."""

from config.web.slots import HEALTH_SLOTS, ConnectionSlots, Visitor, VisitorKind


def taken(slots: ConnectionSlots, visitor: Visitor, tries: int) -> int:
    """Return how many of the tries got a slot."""
    return sum(slots.take(visitor) is not None for _ in range(tries))


def strangers(slots: ConnectionSlots) -> int:
    return sum(taken(slots, Visitor(f"203.0.113.{number}"), 300) for number in range(9))


def test_one_network_of_strangers_takes_a_quarter_and_all_of_them_three():
    slots = ConnectionSlots(256)
    assert taken(slots, Visitor("192.0.2.1"), 300) == 64
    assert strangers(slots) == 128


def test_people_take_what_strangers_left_and_all_of_it_when_they_are_gone():
    slots = ConnectionSlots(256)
    strangers(slots)
    assert taken(slots, Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300) == 64
    assert taken(ConnectionSlots(256), Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300) == 256


def test_a_health_check_is_answered_when_nobody_else_is():
    slots = ConnectionSlots(256)
    strangers(slots)
    taken(slots, Visitor("203.0.113.1", VisitorKind.SIGNED_IN), 300)
    assert taken(slots, Visitor("203.0.113.1", VisitorKind.HEALTH_CHECK), 300) == 1
    others = [Visitor(f"198.51.100.{number}", VisitorKind.HEALTH_CHECK) for number in range(20)]
    assert sum(taken(slots, other, 5) for other in others) == HEALTH_SLOTS - 1


def test_what_is_given_back_is_there_for_the_next():
    slots, visitor = ConnectionSlots(4), Visitor("192.0.2.1")
    claim = slots.take(visitor)
    assert slots.take(visitor) is None
    slots.give_back(claim)
    assert slots.take(visitor) is not None


def test_the_smallest_server_has_a_slot_for_each_kind():
    slots = ConnectionSlots(4)
    assert strangers(slots) == 3
    assert taken(slots, Visitor("192.0.2.1", VisitorKind.SIGNED_IN), 5) == 1
    assert taken(slots, Visitor("192.0.2.1", VisitorKind.HEALTH_CHECK), 5) == 1
