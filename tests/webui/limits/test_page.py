"""What the pages say about reachability."""

from datetime import UTC, datetime

from tests.cases import each_case
from webui.limits.page import reachability_part
from webui.v1.own_records import Moment, Reachability
from webui.words.formatting import Calendar

NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
OPEN, CLOSED, UNKNOWN = True, False, None
PROXY = (0, CLOSED, "off", True)


@each_case(
    ("facts", "state", "advice"),
    [
        ((6881, OPEN, "mapped", False), "Peers can connect to Ferry", ""),
        ((6881, UNKNOWN, "", False), "It's too early to say", "ten minutes"),
        ((6881, CLOSED, "mapped", False), "Peers can't connect to Ferry", "an address of your own"),
        ((6881, CLOSED, "failed", False), "Peers can't connect to Ferry", "Turn on UPnP"),
        ((6881, CLOSED, "off", False), "Peers can't connect to Ferry", "forward port 6881"),
        ((6881, CLOSED, "", False), "Peers can't connect to Ferry", "forward port 6881"),
        ((0, UNKNOWN, "", False), "Ferry isn't waiting for peers", "See Health"),
        (PROXY, "Peers can't connect to Ferry", "TORRENT_PROXY"),
    ],
)
def test_what_is_so_and_what_to_do(facts, state, advice):
    port, is_reachable, mapping, proxy = facts
    seen = Reachability(port, is_reachable, mapping, None, proxy)
    part = reachability_part(seen, Calendar(NOON, UTC))
    assert part["state"] == state
    assert (advice in part["advice"]) if advice else part["advice"] == ""
    assert part["is_well"] is (is_reachable is True)
    assert part["is_unhealthy"] is (is_reachable is False or not port)


def test_the_port_the_router_and_the_last_connection_are_named():
    seen = Reachability(6881, True, "mapped", Moment(2026, 9, 1, 11, 30, tzinfo=UTC), False)
    assert reachability_part(seen, Calendar(NOON, UTC))["facts"] == [
        ("Port", "6881"),
        ("Router", "It forwards the port to Ferry."),
        ("Last connection", "Today, 11:30"),
    ]


def test_behind_a_proxy_the_router_does_not_matter():
    part = reachability_part(Reachability(*PROXY[:3], None, True), Calendar(NOON, UTC))
    assert part["facts"] == []
