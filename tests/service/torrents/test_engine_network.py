"""Whom the engine talks to, checked with real trackers, web seeds, and peers."""

import logging
import socket
import sys
from contextlib import contextmanager
from dataclasses import replace

import libtorrent as lt
import pytest

from common.addresses.reachable import Reach
from service.torrents.engine.addresses import CLOSED, OPEN, ip_filter, is_usable
from service.torrents.engine.params import KEPT_TO_TRACKERS, loading
from service.torrents.engine.session import FINDERS, MAPPERS, pack_of, uses_utp
from service.torrents.events import Complete, Metadata, Status
from service.torrents.orders import Order
from tests.cases import each_case
from tests.certificates import self_signed
from tests.service.torrents.holding import LOOPBACK, holding, listening_port
from tests.swarm import HANDSHAKE_FAILED, Redirecting, Tracker, WebSeed, serving_http, torrent

PAYLOAD = bytes(range(256)) * 700
INWARD = [
    "http://127.0.0.1/announce", "http://127.1/announce", "http://0x7f000001/announce",
    "http://017700000001/announce", "http://2130706433/announce", "http://127.0.0.1./announce",
    "http://[::1]/announce", "http://[::ffff:127.0.0.1]/announce", "http://localhost/announce",
    "http://[::ffff:7f00:1]/announce", "http://[64:ff9b::7f00:1]/announce", "http://nas.local/",
    "http://172.31.0.1/announce", "http://[fd00::1]/announce", "udp://router:80/announce",
    "http://100.64.0.1/announce", "http://10.0.0.1/announce", "https://192.168.1.1/announce",
    "udp://172.16.0.1:80/announce",
]  # fmt: skip
NOWHERE = [
    "http://0/announce", "http://[::]/announce", "http://224.0.0.1/announce", "http://[ff02::1]/",
    "http://169.254.169.254/latest/", "http://[fe80::1%25eth0]/a", "http://[2002:7f00:1::]/a",
]  # fmt: skip
NOT_AT_ALL = ["ws://a.example/", "file:///etc/passwd", "gopher://x/", "http://", "http://a:x/", "x"]
INSIDE = [
    "127.0.0.1", "10.1.2.3", "192.168.0.1", "100.64.0.1", "172.31.0.1", "::1",
    "fd00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1",
]  # fmt: skip
OUTWARD = ["http://tracker.example/announce", "udp://1.1.1.1:80", "https://[2606:4700::1]/announce"]
INTERNET, HOUSEHOLD, LOOP = Reach(), Reach(may_use_private=True), Reach("loopback")


@each_case("url", INWARD)
def test_a_private_address_is_refused_in_every_notation(url):
    assert not is_usable(url, INTERNET)
    assert is_usable(url, HOUSEHOLD)


@each_case("url", NOWHERE)
def test_allowing_private_addresses_opens_no_other_special_ranges(url):
    assert not is_usable(url, INTERNET)
    assert not is_usable(url, HOUSEHOLD)


@each_case("url", NOT_AT_ALL)
def test_urls_that_are_not_trackers_are_refused_in_every_network(url):
    assert not any(is_usable(url, reach) for reach in (INTERNET, HOUSEHOLD, LOOP))


@each_case("url", OUTWARD)
def test_a_public_address_is_used(url):
    assert is_usable(url, INTERNET)


@each_case("url", ["http://1.1.1.1/announce", "http://10.0.0.1/", "http://[::1]/"])
def test_loopback_mode_contacts_no_other_machine(url):
    assert not is_usable(url, Reach("loopback", may_use_private=True))
    assert is_usable("http://127.9.9.9/announce", LOOP)


@each_case("address", INSIDE)
def test_the_filter_refuses_private_addresses(address):
    assert ip_filter(INTERNET).access(address) == CLOSED
    assert ip_filter(HOUSEHOLD).access(address) == OPEN


def test_the_settings_say_what_the_filter_lets_through():
    """tests/common/addresses/test_reachable.py checks every other address."""
    for fetch_private, access in ((False, CLOSED), (True, OPEN)):
        settings = replace(LOOPBACK, network="internet", fetch_private=fetch_private)
        assert ip_filter(settings.reach).access("192.168.1.1") == access
        assert ip_filter(settings.reach).access("1.1.1.1") == OPEN
    assert ip_filter(LOOPBACK.reach).access("1.1.1.1") == CLOSED


def test_loopback_mode_searches_for_no_peers():
    pack = pack_of(LOOPBACK)
    assert not any(pack[each] for each in FINDERS)
    assert all(pack_of(replace(LOOPBACK, network="internet"))[each] for each in FINDERS)


def test_the_router_opens_a_port_only_where_the_owner_says_so():
    internet = replace(LOOPBACK, network="internet")
    mapping = replace(internet, port_mapping=True)
    assert not any(pack_of(internet)[each] for each in MAPPERS)
    assert all(pack_of(mapping)[each] for each in MAPPERS)
    for settings in (
        replace(LOOPBACK, port_mapping=True),
        replace(mapping, proxy="socks5://proxy.example:1081"),
    ):
        assert not any(pack_of(settings)[each] for each in MAPPERS)


def test_utp_is_off_beside_a_proxy():
    assert uses_utp(replace(LOOPBACK, utp=True))
    assert not uses_utp(replace(LOOPBACK, utp=True, proxy="socks5://proxy.example:1081"))


@each_case("port", [0, 1, 22, 25, 110, 143, 587, 631, 1023])
def test_trackers_on_ports_of_other_services_are_not_contacted(port):
    for scheme in ("http", "https", "udp"):
        assert not is_usable(f"{scheme}://1.1.1.1:{port}/announce", INTERNET)
        assert not is_usable(f"{scheme}://tracker.example:{port}/announce", INTERNET)


@each_case("port", [80, 443, 1024, 1337, 6969, 65_535])
def test_trackers_on_usual_ports_are_contacted(port):
    assert is_usable(f"udp://1.1.1.1:{port}/announce", INTERNET)
    assert is_usable(f"http://tracker.example:{port}/announce", INTERNET)


def test_with_a_proxy_no_peers_are_searched_or_accepted():
    pack = pack_of(
        replace(LOOPBACK, network="internet", proxy="socks5://me:a%40b@proxy.example:1081")
    )
    assert not any(pack[each] for each in FINDERS)
    assert pack["listen_interfaces"] == ""
    assert (pack["proxy_hostname"], pack["proxy_port"]) == ("proxy.example", 1081)
    assert (pack["proxy_username"], pack["proxy_password"]) == ("me", "a@b")


@contextmanager
def on_the_internet(home):
    """Yield an engine with the settings for the internet, but without peer discovery.

    That way, tests stay on this machine. All trackers and web seeds count as public, so that only
    the IP filter stops them.
    """
    script = home / "quiet.py"
    script.write_text(
        "from service.torrents import __main__\n"
        "from service.torrents.engine import params, session\n"
        "params.is_usable = lambda *_, **__: True\n"
        "session.finding = lambda _: dict.fromkeys(session.FINDERS + session.MAPPERS, False)\n"
        "__main__.main()\n"
    )
    options = {"network": "internet", "interface": "127.0.0.1"}
    with holding(home / "internet", (sys.executable, str(script)), **options) as held:
        yield held


HOSTS = {"7": "127.0.0.1", "8": "localhost"}


def torrents(tmp_path):
    """Return a torrent for each host."""
    made = {key: torrent(f"x{key}", PAYLOAD) for key in HOSTS}
    for each in made.values():
        each.write(tmp_path / "web")
    return made


@pytest.mark.promise("private trackers are not contacted")
@pytest.mark.slow
def test_private_trackers_are_not_contacted_in_internet_mode(held, tmp_path):
    made = torrents(tmp_path)
    with serving_http(Tracker()) as tracker, on_the_internet(tmp_path) as outside:
        magnets = {
            key: made[key].magnet(trackers=[tracker.announce.replace("127.0.0.1", host)])
            for key, host in HOSTS.items()
        }
        for key, magnet in magnets.items():
            outside.add(key, magnet)
        for key in HOSTS:
            outside.wait(Status, key)
        assert not tracker.was_asked("announce", 1.5)
        for key, magnet in magnets.items():
            held.add(key, magnet)
            assert tracker.was_asked(made[key].hash_v1), HOSTS[key]


@pytest.mark.slow
def test_private_web_seeds_are_not_contacted_in_internet_mode(held, tmp_path):
    made = torrents(tmp_path)
    with (
        serving_http(WebSeed(folder=tmp_path / "web")) as web,
        on_the_internet(tmp_path) as outside,
    ):
        sown = {}
        for key, host in HOSTS.items():
            url = f"{web.url}/".replace("127.0.0.1", host).encode()
            content = lt.bencode(lt.bdecode(made[key].content) | {b"url-list": url})
            sown[key] = replace(made[key], content=content)
            outside.add(key, sown[key])
        for key in HOSTS:
            outside.wait(Status, key)
        assert not web.was_asked("x", 1.5)
        for key, each in sown.items():
            held.add(key, each)
            held.wait(Complete, key)
            assert web.was_asked(each.name), HOSTS[key]


def test_a_peer_inside_is_not_met_from_the_internet(held, seeds, tmp_path):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    with on_the_internet(tmp_path) as outside:
        outside.add("7", made.magnet(peer=seeds.address))
        outside.wait(Status, "7")
        held.add("7", made.magnet(peer=seeds.address))
        held.wait(Complete, "7")
        events = [*outside.events, *outside.engine.poll()]
        assert not [each for each in events if isinstance(each, Metadata)]


@pytest.mark.slow
def test_a_redirect_leads_nowhere_the_filter_forbids(held):
    made, near, far = torrent("x", PAYLOAD), Redirecting(), Redirecting()
    with (
        serving_http(Tracker()) as allowed,
        serving_http(Tracker(), host="::1") as forbidden,
        serving_http(near),
        serving_http(far),
    ):
        near.to, far.to = allowed.announce, forbidden.announce
        held.add("7", made.magnet(trackers=[f"{far.url}/announce"]))
        held.add("8", torrent("y", PAYLOAD).magnet(trackers=[f"{near.url}/announce"]))
        assert near.was_asked("announce")
        assert far.was_asked("announce")
        assert allowed.was_asked("announce")
        assert not forbidden.was_asked("announce", 1.5)


@pytest.mark.slow
def test_a_web_seed_leads_nowhere_the_filter_forbids(held, tmp_path):
    near, far = Redirecting(), Redirecting()
    with (
        serving_http(WebSeed(folder=tmp_path / "web")) as allowed,
        serving_http(WebSeed(folder=tmp_path / "web"), host="::1") as forbidden,
        serving_http(near),
        serving_http(far),
    ):
        for key, name, first, behind in (("7", "x", far, forbidden), ("8", "y", near, allowed)):
            made = torrent(name, PAYLOAD)
            made.write(tmp_path / "web")
            first.to = f"{behind.url}/{name}"
            seeds = f"{first.url}/{name}".encode()
            content = lt.bencode(lt.bdecode(made.content) | {b"url-list": seeds})
            held.add(key, replace(made, content=content))
        assert near.was_asked("y")
        assert far.was_asked("x")
        assert allowed.was_asked("y")
        assert not forbidden.was_asked("x", 1.5)


@pytest.mark.slow
def test_a_tracker_with_an_invalid_certificate_is_not_trusted(tmp_path, monkeypatch, seeds):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    context = self_signed(tmp_path)
    with serving_http(Tracker(peers=[seeds.address]), context) as tracker:
        with holding(tmp_path / "a") as held:
            held.add("7", made.magnet(trackers=[tracker.announce]))
            assert tracker.was_asked(HANDSHAKE_FAILED)
            assert not tracker.was_asked(made.hash_v1, 0)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "both.pem"))
        with holding(tmp_path / "b") as held:
            held.add("7", made.magnet(trackers=[tracker.announce]))
            held.wait(Complete, "7")


def test_a_private_torrent_keeps_to_its_trackers(tmp_path):
    """No DHT, local discovery, or peer exchange, and no peers from before the metadata arrived."""
    flags, peers = {}, {}
    for is_private in (0, 1):
        made = torrent("x", PAYLOAD, info={"private": is_private})
        (tmp_path / "metadata.torrent").write_bytes(made.content)
        internet = replace(LOOPBACK, network="internet")
        params = loading(Order("7", str(tmp_path)), internet, [("127.0.0.4", 6881)])
        flags[is_private], peers[is_private] = params.flags, params.peers
    assert flags[1] & KEPT_TO_TRACKERS == KEPT_TO_TRACKERS
    assert flags[0] & KEPT_TO_TRACKERS == 0
    assert peers == {0: [("127.0.0.4", 6881)], 1: []}


def test_a_taken_port_is_reported_and_another_is_used(tmp_path, seeds, caplog, taken_port):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    with (
        caplog.at_level(logging.INFO),
        serving_http(Tracker(peers=[seeds.address])) as tracker,
        holding(tmp_path, port=taken_port) as held,
    ):
        held.add("7", made.magnet(trackers=[tracker.announce]))
        held.wait(Complete, "7")
        port = listening_port(held.engine.pid)
    assert port != taken_port
    assert f"port {taken_port} is taken: {port} is used instead" in caplog.text


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def test_metadata_tells_that_a_torrent_is_private(held):
    held.add("7", torrent("x", PAYLOAD, info={"private": 1}), may_download=False)
    assert held.wait(Metadata, "7").is_private
