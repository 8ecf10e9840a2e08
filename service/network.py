"""How far fetches, peers, trackers and web seeds may go.

Nothing here resolves or connects. Whoever does judges the very address that it connects to: a
name that answered with a public address may answer with the router's the next time.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Network = IPv4Network | IPv6Network


def networks(*words: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in words)


EVERYWHERE = networks("0.0.0.0/0", "::/0")
# Of IPv6, IANA gave out 2000::/3 so far.
PUBLIC = networks("0.0.0.0/0", "2000::/3")
LOOPBACK = networks("127.0.0.0/8")
# Where the machines of one household or office are.
PRIVATE = networks(
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
    *("::1/128", "fc00::/7"),
)
# IANA's registers of special addresses, multicast, and the relays of 6to4. Teredo (in 2001::/23)
# and 6to4 (2002::/16) carry an IPv4 address to wherever somebody wants.
SPECIAL = networks(
    *("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15"),
    *("198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
)
# Clouds tell a machine its own secrets here; 168.63.129.16 even looks public. No household needs
# them, so they stay closed when private places are opened.
METADATA = networks(
    *("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"),
    "fd00:ec2::254/128",
)
# IPv4 in the clothes of IPv6: as the system writes it, and as the networks' translators do.
CLOTHES = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))

LOCAL_NAME = re.compile(r"[^.]*|.*\.(?:localhost|local|internal|intranet|lan|home\.arpa)")
NUMERIC_NAME = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)|.*:.*")
# Below 1024, only the web's own: to all others, a request in HTTP could mean something else. The
# Fetch standard leaves out these above it for that reason.
OTHER_PROTOCOLS = frozenset(
    {1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566}
    | {6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080}
)


@dataclass(frozen=True)
class Rule:
    network: Network
    is_open: bool


@dataclass(frozen=True)
class Reach:
    """The internet without private places, with them, or this machine's loopback alone."""

    network: str = "internet"  # or "loopback"
    may_use_private: bool = False

    def rules(self) -> tuple[Rule, ...]:
        """The last one that holds an address decides, as in libtorrent's IP filter."""
        return _rules(self)

    def may_connect(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        if isinstance(found, IPv6Address) and found.scope_id is not None:
            return False
        holding = (rule for rule in reversed(self.rules()) if found in rule.network)
        return next(holding).is_open

    def may_resolve(self, host: str) -> bool:
        """What becomes of a local name would tell which ones there are; so none is looked up."""
        name = host.lower().rstrip(".")
        if self.network == "loopback" or self.may_use_private or NUMERIC_NAME.fullmatch(name):
            return name != ""
        return LOCAL_NAME.fullmatch(name) is None


@cache
def _rules(reach: Reach) -> tuple[Rule, ...]:
    if reach.network == "loopback":
        return (*ruled(EVERYWHERE, is_open=False), *ruled(LOOPBACK, is_open=True))
    rules = [
        *ruled(EVERYWHERE, is_open=False),
        *ruled(PUBLIC, is_open=True),
        *ruled(SPECIAL, is_open=False),
        *ruled(PRIVATE, is_open=reach.may_use_private),
        *ruled(METADATA, is_open=False),
    ]
    return (*rules, *in_clothes(rules))


def ruled(wanted: Iterable[Network], *, is_open: bool) -> list[Rule]:
    return [Rule(network, is_open) for network in wanted]


def in_clothes(rules: Iterable[Rule]) -> Iterator[Rule]:
    for rule in rules:
        if isinstance(rule.network, IPv4Network):
            for clothes in CLOTHES:
                yield Rule(inside(clothes, rule.network), rule.is_open)


def inside(clothes: IPv6Network, network: IPv4Network) -> IPv6Network:
    first = int(clothes.network_address) + int(network.network_address)
    return IPv6Network((first, clothes.prefixlen + network.prefixlen))


def is_web_port(port: int) -> bool:
    return port in (80, 443) or (1024 <= port < 65_536 and port not in OTHER_PROTOCOLS)
