from host.web.connection_limits import FEW, seconds_for_others


def test_processes_wait_longer_the_more_connections_they_hold():
    waits = [seconds_for_others(connections) for connections in (0, 1, 7)]
    assert waits[0] == 0
    assert waits == sorted(set(waits))


def test_waits_are_short_and_busy_processes_do_not_wait():
    assert seconds_for_others(FEW - 1) < 0.002
    assert seconds_for_others(FEW) == seconds_for_others(1000) == 0
