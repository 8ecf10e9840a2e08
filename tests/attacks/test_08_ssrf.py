"""Row 8: addresses that only this machine may reach.

Row 11 covers what a playlist that poses as a film may open.
"""

import socket
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from urllib.parse import quote

import pytest

from common.addresses.reachable import Reach
from service.details import Details
from service.fetching.errors import AddressRefused
from service.fetching.http.wire import Road, addresses_of, is_near, is_own
from service.fetching.pace import Pace
from service.fetching.pool import Fetching
from service.torrents.engine.addresses import is_usable
from service.torrents.events import Complete, TorrentBroken
from tests.cases import each_case
from tests.misbehaving import answers, head, serving, whole
from tests.service.fetching.servers import CONTENT, Side, file, in_turn, url_of, waits_told
from tests.webui.service import IMPATIENT
from webui.connection.address_policy import LinkPolicy
from webui.v1.client import Client
from webui.v1.errors import Failure

SECRET = b"the router's password"
REFUSED = TorrentBroken("7", "address_refused", AddressRefused().details)
# Each is an address of this machine, at least in some programs.
OWN = [
    *("127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "0", "0.0.0.0", "0x7f000001", "0x7f.1"),
    *("0X7F.0.0.1", "017700000001", "0177.0.0.1", "00000177.1", "2130706433", "4294967296"),
    *(
        "localhost",
        "LocalHost",
        "localhost.",
        "a.localhost",
        "ip6-localhost",
        "router",
        "nas.local",
    ),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]"),
    *("[::ffff:7f00:1]", "[::ffff:0:7f00:1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]"),
    *("[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]", "[fe80::1%lo]"),
    *("127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "１２７.0.0.1", "ⓛocalhost"),
    *("%31%32%37.0.0.1", "127.0.0.1%00", "127.0.0.1%2f@example.org", "[::1", "::1"),
]
ELSEWHERE = [
    *("10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16"),
    *("100.100.100.200", "198.18.0.1", "224.0.0.1", "255.255.255.255", "0xa9fea9fe", "2852039166"),
    *("[fd00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[::ffff:169.254.169.254]"),
    *("[64:ff9b::a9fe:a9fe]", "[2001:db8::1]", "metadata.internal", "printer.lan"),
]
OTHER_SCHEMES = [
    *("file:///etc/passwd", "file://127.0.0.1/etc/passwd", "gopher://127.0.0.1:6379/_INFO"),
    *("ftp://127.0.0.1/", "javascript:alert(1)", "data:text/plain,x", "ldap://127.0.0.1/"),
    *("dict://127.0.0.1:11211/", "unix:///run/docker.sock", "ws://127.0.0.1/", "mailto:a@b"),
]
NAMES = {"public.example": ["127.0.0.1"], "intern.example": ["::1"]}


@pytest.fixture
def open_side(tmp_path):
    """Yield a function that makes a worker's side whose fetches use the given road."""
    opened = []

    def open_it(road: Road) -> Side:
        side = Side(tmp_path, pace=Pace(pause=waits_told([]), quiet_seconds=10))
        side.fetching = Fetching(road, side.pace)
        opened.append(side)
        return side

    yield open_it
    for side in opened:
        side.fetching.stop(5)


@pytest.fixture
def abroad(open_side):
    """Return a side on the internet, with the system's own resolver."""
    return open_side(Road(Reach()))


@pytest.fixture
def at_home(open_side):
    """Return a side like `abroad` that may reach private networks, too."""
    return open_side(Road(Reach(may_use_private=True)))


@pytest.fixture
def indoors(open_side):
    """Return a side for which IPv4 loopback is the public internet, and IPv6 loopback isn't."""
    return open_side(named(Reach("loopback")))


@pytest.fixture
def by_one_door(open_side):
    return open_side(OneOpenDoor(Reach(), resolve=door))


def named(reach: Reach, **names: list[str]) -> Road:
    known = NAMES | {name.replace("_", "."): found for name, found in names.items()}
    return Road(reach, resolve=lambda host, _port: known.get(host) or [host])


@contextmanager
def internal():
    """Run a server that no request from outside may reach."""
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listening:
        listening.setblocking(False)
        yield listening


def port_of(listening):
    return listening.getsockname()[1]


def visitors(listening):
    with suppress(BlockingIOError):
        listening.accept()[0].close()
        return 1
    return 0


def redirect(location):
    return answers(head("302 Go", Location=location, Content_Length="0"))


# Addresses to fetch


def test_private_addresses_are_reached_if_the_setting_allows_it(at_home):
    with serving(answers(whole(SECRET))) as server:
        assert at_home.fetch(url_of(server)) == Complete("7")
    assert at_home.content == SECRET


@each_case("host", OWN)
def test_no_spelling_of_this_machine_is_fetched_from(abroad, host):
    with serving(answers(whole(SECRET))) as server:
        event = abroad.fetch(f"http://{host}:{server.port}/")
        assert server.heads == []
    assert is_refused(event) or event.details.kind == "no_such_host"
    assert list(abroad.folder.iterdir()) == []


def is_refused(event):
    return isinstance(event, TorrentBroken) and event.word == "address_refused"


@each_case("host", ELSEWHERE)
@each_case("scheme", ["http", "https"])
def test_nothing_is_fetched_from_private_addresses(abroad, host, scheme):
    assert abroad.fetch(f"{scheme}://{host}/latest/meta-data/") == REFUSED


@each_case("url", OTHER_SCHEMES)
def test_nothing_but_the_web_is_fetched(at_home, url):
    assert is_refused(at_home.fetch(url))


@each_case("url", OTHER_SCHEMES)
def test_no_redirect_leads_out_of_the_web(indoors, url):
    with serving(redirect(url)) as server:
        assert is_refused(indoors.fetch(url_of(server)))
        assert len(server.heads) == 1


@pytest.mark.promise("no redirect leads into the private network")
@pytest.mark.slow
@each_case("host", [*OWN, *ELSEWHERE])
def test_no_redirect_leads_to_a_private_address(by_one_door, host):
    """The first request uses a name; Ferry checks each redirect as it does any other address."""
    with serving(redirect(f"http://{host}:8080/")) as server:
        event = by_one_door.fetch(f"http://public.example:{server.port}/")
        assert len(server.heads) > 0
        assert all(b"public.example" in raw for raw in server.heads)
    assert is_refused(event) or event.details.kind == "no_such_host"


def door(host, port):
    return ["the door"] if host == "public.example" else addresses_of(host, port)


class OneOpenDoor(Road):
    """A road to the internet, except that one name leads to this machine."""

    def allowed_addresses(self, found):
        return ["127.0.0.1"] if found == ["the door"] else super().allowed_addresses(found)


def test_a_redirect_from_inside_to_outside_is_checked_too(indoors):
    with internal() as inside, serving(redirect(f"http://[::1]:{port_of(inside)}/")) as server:
        assert indoors.fetch(url_of(server)) == REFUSED
        assert visitors(inside) == 0


def test_a_name_that_turns_private_is_refused_at_its_next_connection(open_side):
    turns = iter([["127.0.0.1"], ["127.0.0.1"], ["::1"]])
    side = open_side(Road(Reach("loopback"), resolve=lambda _host, _port: next(turns)))
    with internal() as inside, serving(in_turn(file(cut_after=9_000))) as server:
        port = server.port
        assert side.fetch(f"http://rebinding.example:{port}/") == REFUSED
        assert len(server.heads) == 2
        assert visitors(inside) == 0


def test_a_name_is_resolved_once_and_that_very_address_connected_to(open_side):
    lookups = []

    def resolve(host, port):
        lookups.append(host)
        return ["127.0.0.1"] if len(lookups) == 1 else ["::1"]

    side = open_side(Road(Reach("loopback"), resolve=resolve))
    with serving(file()) as server:
        assert side.fetch(f"http://rebinding.example:{server.port}/") == Complete("7")
    assert lookups == ["rebinding.example"]


def test_private_addresses_are_dropped_if_there_are_several(open_side):
    side = open_side(named(Reach("loopback"), both_example=["::1", "10.0.0.1", "127.0.0.1"]))
    with internal() as inside, serving(file()) as server:
        assert side.fetch(f"http://both.example:{server.port}/") == Complete("7")
        assert visitors(inside) == 0
    assert side.content == CONTENT


def test_error_messages_reveal_nothing_about_the_private_network(indoors):
    """An open port, a closed one, and one of another protocol: the answers are all the same."""
    with internal() as inside:
        open_port = port_of(inside)
        for port in (open_port, 80, 22, 6000):
            assert indoors.fetch(f"http://intern.example:{port}/{port}") == REFUSED
        assert visitors(inside) == 0


def test_this_machines_own_public_address_is_refused(open_side):
    side = open_side(Road(Reach(), lambda _host, _port: ["93.184.216.34"], lambda _address: True))
    assert side.fetch("http://ferry.example/") == REFUSED


@pytest.mark.allow_hosts(["127.0.0.1", "::1", "192.0.2.1"])
def test_this_machine_knows_its_own_addresses():
    """This sends nothing: connecting a datagram socket only looks up the route."""
    assert is_own("127.0.0.1")
    assert is_own("::1")
    assert not is_own("192.0.2.1")


@each_case(
    ("ours", "theirs", "is_it"),
    [
        ("93.184.216.34", "93.184.216.34", True),
        ("93.184.216.34", "93.184.216.35", False),
        ("2606:4700:1:2::1", "2606:4700:1:2:ffff::9", True),
        ("2606:4700:1:2::1", "2606:4700:1:3::1", False),
    ],
)
def test_in_ipv6_a_household_is_near_though_its_addresses_are_public(ours, theirs, is_it):
    assert is_near(ours, theirs) == is_it


def test_the_loopback_network_cannot_reach_the_internet(open_side):
    reach = Reach("loopback", may_use_private=True)
    side = open_side(named(reach, far_example=["93.184.216.34"]))
    assert side.fetch("http://far.example/") == REFUSED


@each_case("userinfo", ["me:secret", "me", ":secret", "127.0.0.1", quote("a@b")])
def test_credentials_in_an_address_are_refused_without_a_trace(indoors, userinfo):
    with serving(file()) as server:
        event = indoors.fetch(f"http://{userinfo}@127.0.0.1:{server.port}/")
        assert server.heads == []
    assert event.details == Details("address_password")


@each_case(
    "start", ["http://public.example\\@127.0.0.1", "http:\\\\127.0.0.1", "http:///127.0.0.1",
              "http://127.0.0.1\t", "http://127.0.0.1\r\nX: y", "//127.0.0.1", "", "http://"],
)  # fmt: skip
def test_an_address_that_programs_read_differently_is_refused(indoors, start):
    with serving(file()) as server:
        assert is_refused(indoors.fetch(f"{start}:{server.port}/"))
        assert server.heads == []


def test_text_after_a_hash_is_not_a_host(open_side):
    side = open_side(named(Reach("loopback"), a_example=["::1"]))
    with serving(file()) as server:
        assert side.fetch(f"http://a.example#@127.0.0.1:{server.port}/") == REFUSED
        assert server.heads == []


@each_case("port", [1, 22, 25, 6667, 65_536, 10**9])
def test_other_protocols_are_not_spoken_to(indoors, port):
    assert is_refused(indoors.fetch(f"http://127.0.0.1:{port}/"))


def test_proxies_from_the_environment_are_not_used(indoors, monkeypatch):
    with internal() as inside, serving(file()) as server:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://[::1]:{port_of(inside)}")
        assert indoors.fetch(url_of(server)) == Complete("7")
        assert visitors(inside) == 0


# Trackers, web seeds, and peers: libtorrent's filter checks the addresses to which names resolve
# (tests/service/torrents/test_engine_network.py tries real ones)


@each_case("host", [*OWN, *ELSEWHERE])
def test_no_tracker_or_web_seed_of_a_torrent_is_written_as_a_private_address(host):
    for url in (f"http://{host}/announce", f"https://{host}:8443/", f"udp://{host}:80/announce"):
        assert is_usable("http://tracker.example/announce", Reach())
        assert not is_usable(url, Reach()) or is_a_name(host)


def is_a_name(host):
    """Return whether no program reads the host as an address without asking a resolver."""
    with suppress(ValueError):
        ip_address(host.strip("[]"))
        return False
    with suppress(OSError):
        socket.inet_aton(host)
        return False
    return True


@each_case("address", ["169.254.169.254", "168.63.129.16", "fd00:ec2::254"])
def test_allowing_private_addresses_does_not_open_a_clouds_secrets(address):
    for may_use_private in (True, False):
        assert not Reach(may_use_private=may_use_private).may_connect(address)
    assert Reach(may_use_private=True).may_connect("192.168.1.1")


def test_this_machines_own_name_is_refused(abroad):
    with serving(answers(whole(SECRET))) as server:
        event = abroad.fetch(f"http://{socket.gethostname()}:{server.port}/")
        assert server.heads == []
    assert is_refused(event) or event.details.kind == "no_such_host"


# Addresses that a foreign service gives for a picture, a playlist, or a segment


@pytest.fixture
def site():
    """Yield a foreign service and a client that trusts only this service."""
    with serving(answers(whole(b"a picture"))) as service:
        url = f"http://127.0.0.1:{service.port}"
        policy = LinkPolicy("https://service.example", [])
        with Client(
            url,
            None,
            may_follow=policy.may_follow,
            may_connect=policy.may_connect,
            patience=IMPATIENT,
        ) as v1:
            with v1.open(f"{url}/picture") as found:
                assert b"".join(found) == b"a picture"
            yield service, v1


@each_case("host", [*OWN, *ELSEWHERE])
def test_no_link_of_a_service_leads_to_a_private_address(site, host):
    _service, v1 = site
    with serving(answers(whole(SECRET))) as inside:
        for scheme in ("http", "https"):
            with pytest.raises(Failure):
                v1.open(f"{scheme}://{host}:{inside.port}/")
        assert inside.heads == []


@each_case("host", [*OWN, *ELSEWHERE])
def test_no_redirect_of_a_service_leads_to_a_private_address(site, host):
    service, v1 = site
    with serving(answers(whole(SECRET))) as inside:
        service.misbehave = redirect(f"http://{host}:{inside.port}/")
        service.heads.clear()
        with pytest.raises(Failure):
            v1.open(f"{v1.address.base_url}/picture")
        assert len(service.heads) == 1
        assert inside.heads == []


@each_case("url", OTHER_SCHEMES)
def test_no_link_of_a_service_leads_out_of_the_web(site, url):
    service, v1 = site
    with pytest.raises(Failure):
        v1.open(url)
    service.misbehave = redirect(url)
    service.heads.clear()
    with pytest.raises(Failure):
        v1.open(f"{v1.address.base_url}/picture")
    assert len(service.heads) == 1
