from config.web.connection_limits import FEW, seconds_for_others


def test_who_holds_nothing_takes_at_once_and_who_holds_more_waits_longer():
    waits = [seconds_for_others(connections) for connections in (0, 1, 7)]
    assert waits[0] == 0
    assert waits == sorted(set(waits))


def test_nobody_waits_long_and_a_crowd_not_at_all():
    assert seconds_for_others(FEW - 1) < 0.002
    assert seconds_for_others(FEW) == seconds_for_others(1000) == 0
