"""Which connections make room for others."""

from types import SimpleNamespace

from host.web.idle_connections import least_needed_first
from host.web.visitor_limits import VisitorKind


def connections(names, kind=VisitorKind.STRANGER):
    return [
        SimpleNamespace(name=name, visitor=SimpleNamespace(kind=kind)) for name in names.split()
    ]


def order(leaving, reading, begun):
    return [each.name for each in least_needed_first(leaving, reading, begun)]


def test_many_slow_responses_do_not_push_out_requests():
    groups = [connections(names) for names in ("closing", "kept new", "slow slower slowest")]
    assert order(*groups) == ["closing", "slow", "slower", "slowest", "kept", "new"]


def test_many_requests_do_not_push_out_responses():
    groups = [connections(names) for names in ("closing", "kept old new", "slow slower")]
    assert order(*groups) == ["closing", "kept", "old", "new", "slow", "slower"]


def test_a_signed_in_persons_connection_is_kept():
    watching = connections("film music photo", VisitorKind.SIGNED_IN)
    assert order([], connections("new"), watching) == ["new"]
