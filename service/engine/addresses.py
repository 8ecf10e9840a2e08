"""Who may be talked to: networks for libtorrent's filter, and trackers and web seeds by URL.

libtorrent resolves names itself and asks its filter about every address, of peers, trackers and
web seeds alike. Behind a proxy names are resolved elsewhere: there only addresses that are
written out can be refused, and they are, here.
"""

import ipaddress
import socket
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import libtorrent as lt

from service.engine.network import METADATA

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

LOOPBACK = "127.0.0.0/8"
PRIVATE = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
)
EVERYTHING = ("0.0.0.0/0", "::/0")
SCHEMES = ("http", "https", "udp")


def refused_networks(network: str, *, fetch_private: bool) -> tuple[str, ...]:
    if network == "loopback":
        return EVERYTHING
    secrets = tuple(map(str, METADATA))
    return secrets if fetch_private else (*PRIVATE, *secrets)


def ip_filter(network: str, *, fetch_private: bool) -> Any:
    """Later rules win."""
    rules = lt.ip_filter()
    for each in refused_networks(network, fetch_private=fetch_private):
        refused = ipaddress.ip_network(each)
        rules.add_rule(str(refused[0]), str(refused[-1]), 1)
    if network == "loopback":
        allowed = ipaddress.ip_network(LOOPBACK)
        rules.add_rule(str(allowed[0]), str(allowed[-1]), 0)
    return rules


def is_usable(url: str, refused: tuple[str, ...], *, schemes: tuple[str, ...] = SCHEMES) -> bool:
    """Whether a tracker or web seed may be asked at all, as far as its URL says."""
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme not in schemes or not host:
        return False
    address = address_of(host)
    return address is None or is_allowed(address, refused)


def address_of(host: str) -> Address | None:
    """None for a name. 127.1, 0x7f000001 and 017700000001 are addresses too."""
    with suppress(ValueError):
        return ipaddress.ip_address(host.partition("%")[0])
    with suppress(OSError, ValueError):
        return ipaddress.IPv4Address(socket.inet_aton(host))
    return None


def is_allowed(address: Address, refused: tuple[str, ...]) -> bool:
    if refused == EVERYTHING:
        return address in ipaddress.ip_network(LOOPBACK)
    return not any(address in ipaddress.ip_network(each) for each in refused)
