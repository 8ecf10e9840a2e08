import ipaddress
import string
from collections.abc import Iterator

from hypothesis import example, given
from hypothesis import strategies as st

from common.addresses.reachable import Reach, is_web_port
from service.fetching.http.wire import Road
from service.torrents.engine.addresses import ip_filter, is_usable
from tests.cases import each_case
from webui.connection.address_policy import LinkPolicy

# IANA's registries of special-purpose addresses, of September 2025, with multicast, site-local
# addresses, and the edges of what IANA has allocated.
SPECIAL_NETWORKS = [
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32"),
    *("192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16"),
    *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4"),
    *("240.0.0.0/4", "255.255.255.255/32"),
    *("::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23"),
    *("2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48"),
    *("2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28"),
    *("2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7"),
    *("fe80::/10", "fec0::/10", "ff00::/8", "::/3", "4000::/2", "8000::/1"),
]
# Clouds serve a machine's secrets here.
METADATA = [
    *("169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"),
    *("fd00:ec2::23", "fd20:ce::254", "fd00:42::42", "fd00:c1::a9fe:a9fe"),
]
# How an IPv6 address embeds one of IPv4: its prefix, and how far left the address is.
EMBEDDINGS = {
    "mapped": ("::ffff:0:0", 0),
    "compatible": ("::", 0),
    "translated": ("::ffff:0:0:0", 0),
    "NAT64": ("64:ff9b::", 0),
    "local NAT64": ("64:ff9b:1::", 0),
    "6to4": ("2002::", 80),
    "Teredo's server": ("2001::", 64),
}
TEREDO = int(ipaddress.IPv6Address("2001:0:808:808::"))


def edges(network: str) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    net = ipaddress.ip_network(network)
    yield from (net[0], net[net.num_addresses // 2], net[-1])


def disguises(address: ipaddress.IPv4Address) -> Iterator[ipaddress.IPv6Address]:
    for prefix, shift in EMBEDDINGS.values():
        yield ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(address) << shift)
    # Teredo inverts the client's address.
    yield ipaddress.IPv6Address(TEREDO | int(address) ^ 0xFFFFFFFF)


def forbidden() -> Iterator[str]:
    places = [ipaddress.ip_address(each) for each in METADATA]
    for address in [*places, *(edge for each in SPECIAL_NETWORKS for edge in edges(each))]:
        # The whole of ::/3 contains what NAT64 embeds.
        if address not in ipaddress.ip_network("64:ff9b::/96"):
            yield str(address)
        if isinstance(address, ipaddress.IPv4Address):
            yield from map(str, disguises(address))


def halves_that_connect(address: str) -> list[str]:
    """Return each part of Ferry that would connect to an address on the internet."""
    host = f"[{address}]" if ":" in address else address
    answers = {
        "site connects": LinkPolicy("https://a.example", []).may_connect("b.example", address),
        "site links": LinkPolicy("https://a.example", []).may_follow(f"http://{host}/"),
        "service fetches": Road(Reach(), is_own=lambda _address: False).may_connect(address),
        "service announces": is_usable(f"http://{host}/", Reach()),
        "engine connects": ip_filter(Reach()).access(address) == 0,
    }
    return [name for name, is_open in answers.items() if is_open]


def test_both_halves_refuse_every_special_address():
    assert {each: who for each in forbidden() if (who := halves_that_connect(each))} == {}


def test_both_halves_use_one_rule_for_hosts_and_ports():
    policy = LinkPolicy("https://a.example", [])
    for host in [*LOCAL_NAMES, *OTHER_HOSTS, *ODD_HOSTS]:
        url = f"http://[{host}]/" if ":" in host else f"http://{host}/"
        assert policy.may_follow(url) == is_usable(url, Reach()), host
    for port in [*WEB_PORTS, *OTHER_PORTS]:
        assert policy.may_follow(f"http://b.example:{port}/") == is_web_port(port), port


PUBLIC = [
    *("1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255"),
    *("128.0.0.0", "168.63.129.15", "169.253.255.255", "169.255.0.0", "172.15.255.255"),
    *("172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "223.255.255.255"),
    *("2606:4700::1111", "2001:200::1", "3ffe:ffff::", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
]
PRIVATE = [
    *("127.0.0.1", "127.255.255.255", "10.0.0.0", "10.255.255.255", "172.16.0.1"),
    *("172.31.255.255", "192.168.0.0", "192.168.255.255", "100.64.0.1", "100.127.255.255"),
    *("::1", "fc00::", "fd00::1", "fdff::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::192.168.0.1"),
]
NEVER = [
    *("0.0.0.0", "0.255.255.255", "169.254.169.254", "168.63.129.16", "100.100.100.200"),
    *("192.0.0.192", "192.0.0.1", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.19.255.255"),
    *("198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "::", "::7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1"),
    *("::ffff:169.254.169.254", "::ffff:0.0.0.0", "64:ff9b::a9fe:a9fe", "64:ff9b::"),
    *("64:ff9b:1::1", "64:ff9b:1:7f00:1::", "100::1", "2001::1", "2001:0:7f00:1::1"),
    *("2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::1"),
    *("3fff::1", "4000::1", "5f00::1", "fe80::1", "fec0::1", "ff02::1", "fd00:ec2::254"),
    *("fe80::1%eth0", "::1%1", "2606:4700::1111%1"),
]
LOCAL_NAMES = [
    *("localhost", "LOCALHOST.", "router", "a.localhost", "nas.local", "db.internal", "x.lan"),
    *("a.home.arpa", "corp.intranet", "ⓛocalhost", "nas.ⓛocal", "nas.lo\u00adcal", "nas。local"),
    "nas.loc%61l",
]
OTHER_HOSTS = [
    *("example.org", "example.org.", "local.example", "bücher.example", "127.0.0.1", "0x7f000001"),
    *("0", "::1"),
]
ODD_HOSTS = [
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127.0.0.%31",
    "1.2.3.4.5",
    "0x8080808",
    "a..b",
    "8.8.8.8.",
]
WEB_PORTS = [80, 443, 1024, 8080, 8443, 65_535]
OTHER_PORTS = [-1, 0, 22, 25, 81, 1023, 2049, 6000, 6667, 10_080, 65_536]
WRONG = ["", "x", "127.1", "0x7f000001", "017700000001", "8.8.8.8.", "8.8.8.8/32", " 8.8.8.8"]


@each_case("address", PUBLIC)
def test_public_places_are_reached(address):
    assert Reach().may_connect(address)
    assert Reach(may_use_private=True).may_connect(address)
    assert not Reach("loopback").may_connect(address)


@each_case("address", PRIVATE)
def test_private_addresses_are_reached_if_allowed(address):
    assert not Reach().may_connect(address)
    assert Reach(may_use_private=True).may_connect(address)


@each_case("address", [*NEVER, *WRONG])
def test_addresses_that_are_not_fetchable_are_never_reached(address):
    assert not Reach().may_connect(address)
    assert not Reach(may_use_private=True).may_connect(address)
    assert not Reach("loopback").may_connect(address)


def test_the_loopback_is_four_numbers_and_nothing_else():
    reach = Reach("loopback", may_use_private=True)
    assert reach.may_connect("127.0.0.1")
    assert reach.may_connect("127.8.9.10")
    assert not any(reach.may_connect(each) for each in PRIVATE if not each.startswith("127."))


ADDRESSES = st.ip_addresses() | st.integers(0, 2**32 - 1).map(
    lambda number: ipaddress.IPv6Address(int(ipaddress.IPv6Address("::ffff:0:0")) + number)
)


@given(ADDRESSES)
@example(ipaddress.ip_address("64:ff9b::a00:1"))
def test_reachable_addresses_are_global_according_to_python(address):
    if Reach().may_connect(str(address)):
        worn = getattr(address, "ipv4_mapped", None) or worn_by_nat64(address) or address
        assert worn.is_global
        assert not worn.is_multicast


def worn_by_nat64(address):
    is_worn = address.version == 6 and address in ipaddress.ip_network("64:ff9b::/96")
    return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if is_worn else None


@given(st.integers(0, 2**32 - 1), st.sampled_from([Reach(), Reach(may_use_private=True)]))
def test_a_disguised_address_is_recognized(number, reach):
    plain = ipaddress.IPv4Address(number)
    for clothes in ("::ffff:", "64:ff9b::"):
        assert reach.may_connect(f"{clothes}{plain}") == reach.may_connect(str(plain))


@given(ADDRESSES, st.sampled_from([Reach(), Reach(may_use_private=True), Reach("loopback")]))
def test_the_engines_filter_says_the_same(address, reach):
    assert (ip_filter(reach).access(str(address)) == 0) == reach.may_connect(str(address))


@each_case("name", [*LOCAL_NAMES, "", "."])
def test_local_names_are_not_resolved(name):
    assert not Reach().may_resolve(name)


@each_case("name", OTHER_HOSTS)
def test_other_hosts_are_checked_by_their_addresses(name):
    assert Reach().may_resolve(name)


@given(st.text(string.printable))
def test_any_name_gets_an_answer(name):
    assert Reach().may_resolve(name) in (True, False)


@each_case("port", WEB_PORTS)
def test_ports_of_the_web_are_spoken_to(port):
    assert is_web_port(port)


@each_case("port", OTHER_PORTS)
def test_ports_of_others_are_not(port):
    assert not is_web_port(port)
