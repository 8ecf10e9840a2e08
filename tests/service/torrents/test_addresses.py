import ipaddress
import string

from hypothesis import example, given
from hypothesis import strategies as st

from service.reachable_addresses import Reach, is_web_port
from service.torrents.engine.addresses import ip_filter
from tests.cases import each_case

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


@each_case(
    "name",
    ["localhost", "LOCALHOST.", "router", "a.localhost", "nas.local", "db.internal", "x.lan",
     "a.home.arpa", "", "."],
)  # fmt: skip
def test_local_names_are_not_resolved(name):
    assert not Reach().may_resolve(name)


@each_case(
    "name", ["example.org", "example.org.", "local.example", "127.0.0.1", "0x7f000001", "0", "::1"]
)
def test_other_hosts_are_checked_by_their_addresses(name):
    assert Reach().may_resolve(name)


@given(st.text(string.printable))
def test_any_name_gets_an_answer(name):
    assert Reach().may_resolve(name) in (True, False)


@each_case("port", [80, 443, 1024, 8080, 8443, 65_535])
def test_ports_of_the_web_are_spoken_to(port):
    assert is_web_port(port)


@each_case("port", [-1, 0, 22, 25, 81, 1023, 2049, 6000, 6667, 10_080, 65_536])
def test_ports_of_others_are_not(port):
    assert not is_web_port(port)
