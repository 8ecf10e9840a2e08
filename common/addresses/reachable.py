"""Decide which addresses, names, and ports of the internet Ferry may contact, for both halves.

Nothing here resolves or connects. The caller must check the very address that it connects to: a
name that resolved to a public address may resolve to the router's the next time. The lists are
our own, since `is_global` differs between patch releases of Python.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from socket import inet_aton, inet_ntoa

Network = IPv4Network | IPv6Network


def networks(*words: str) -> tuple[Network, ...]:
    return tuple(ip_network(word) for word in words)


EVERYWHERE = networks("0.0.0.0/0", "::/0")
# IANA has allocated only 2000::/3 of IPv6 so far.
PUBLIC = networks("0.0.0.0/0", "2000::/3")
LOOPBACK = networks("127.0.0.0/8")
# The machines of one household or office.
PRIVATE = networks(
    *("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"),
    *("::1/128", "fc00::/7"),
)
# IANA's registries of special-purpose addresses, multicast, and the relays of 6to4. Teredo (in
# 2001::/23) and 6to4 (2002::/16) embed an IPv4 address, and so could lead anywhere.
SPECIAL = networks(
    *("0.0.0.0/8", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
    *("192.88.99.0/24", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24"),
    *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
)
# Clouds serve a machine's secrets here; 168.63.129.16 even looks public. No household needs
# these addresses, so they stay closed when private networks are allowed.
METADATA = networks(
    *("169.254.0.0/16", "168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32"),
    *("fd00:42::42/128", "fd00:c1::a9fe:a9fe/128", "fd00:ec2::/32", "fd20:ce::254/128"),
)
# IPv4 embedded in IPv6: as the system maps it, and as the translators of networks (NAT64) do.
EMBEDDING_PREFIXES = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))

LOCAL_NAME = re.compile(r"[^.]*|.*\.(?:localhost|local|internal|intranet|lan|home\.arpa)")
NUMERIC_NAME = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)|.*:.*")
HOST = re.compile(r"[a-z0-9_.:-]*")
# Below 1024, only 80 and 443 are allowed: behind other ports, an HTTP request could be read as
# another protocol. The Fetch standard blocks these above 1024 for the same reason.
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
    """What may be reached: the internet with or without private networks, or only loopback."""

    network: str = "internet"  # or "loopback"
    may_use_private: bool = False

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules; the last that contains an address counts, as in libtorrent's filter."""
        return _rules(self)

    def may_connect(self, address: str) -> bool:
        try:
            ip = ip_address(address)
        except ValueError:
            return False
        if isinstance(ip, IPv6Address) and ip.scope_id is not None:
            return False
        holding = (rule for rule in reversed(self.rules()) if ip in rule.network)
        return next(holding).is_open

    def may_contact(self, host: str) -> bool:
        """Return whether a link may lead to this host, judging by its text alone."""
        name = ascii_of(host)
        if NUMERIC_NAME.fullmatch(name):
            return self.may_connect(usual_spelling(name))
        return self.may_resolve(name)

    def may_resolve(self, host: str) -> bool:
        """Return whether a name may be looked up; results would reveal which local names exist."""
        name = ascii_of(host)
        if self.network == "loopback" or self.may_use_private or NUMERIC_NAME.fullmatch(name):
            return name != ""
        return LOCAL_NAME.fullmatch(name) is None


def ascii_of(host: str) -> str:
    """Return the host as browsers and resolvers read it, or an empty string if it is no host."""
    try:
        name = unicodedata.normalize("NFKC", host).encode("idna").decode().lower().rstrip(".")
    except UnicodeError:
        return ""
    return name if HOST.fullmatch(name) else ""


def usual_spelling(address: str) -> str:
    """Return an address as it's usually written; `127.1` and `0x7f000001` are addresses too."""
    with suppress(OSError):
        return inet_ntoa(inet_aton(address))
    return address


@cache
def _rules(reach: Reach) -> tuple[Rule, ...]:
    if reach.network == "loopback":
        return (*rules_for(EVERYWHERE, is_open=False), *rules_for(LOOPBACK, is_open=True))
    rules = [
        *rules_for(EVERYWHERE, is_open=False),
        *rules_for(PUBLIC, is_open=True),
        *rules_for(SPECIAL, is_open=False),
        *rules_for(PRIVATE, is_open=reach.may_use_private),
        *rules_for(METADATA, is_open=False),
    ]
    return (*rules, *embed(rules))


def rules_for(ranges: Iterable[Network], *, is_open: bool) -> list[Rule]:
    return [Rule(network, is_open) for network in ranges]


def embed(rules: Iterable[Rule]) -> Iterator[Rule]:
    for rule in rules:
        if isinstance(rule.network, IPv4Network):
            for prefix in EMBEDDING_PREFIXES:
                yield Rule(inside(prefix, rule.network), rule.is_open)


def inside(prefix: IPv6Network, network: IPv4Network) -> IPv6Network:
    first = int(prefix.network_address) + int(network.network_address)
    return IPv6Network((first, prefix.prefixlen + network.prefixlen))


def is_web_port(port: int) -> bool:
    return port in (80, 443) or (1024 <= port < 65_536 and port not in OTHER_PROTOCOLS)
