"""Decide where the site fetches from for a foreign service, and where it sends browsers.

A service may return links to any address. Ferry follows links to the service's own host, to hosts
that the owner named, and to public addresses. It checks the address of each connection, because a
name that resolved to a public address may resolve to the router's next time.
"""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# All of the IPv6 that IANA has allocated so far. Addresses outside it are for private networks, or
# contain an IPv4 address.
GIVEN_OUT = ipaddress.ip_network("2000::/3")
# 6to4 and Teredo can lead to any address, 3fff:: is for documentation, and 168.63.129.16, which
# looks public, gives a machine in a cloud its own secrets.
REFUSED = [
    ipaddress.ip_network(word)
    for word in ("192.88.99.0/24", "2002::/16", "2001::/32", "3fff::/20", "168.63.129.16/32")
]


class LinkPolicy:
    def __init__(self, service_url: str, media_hosts: Iterable[str]) -> None:
        own = (urlsplit(service_url).hostname or "").lower()
        self._trusted = {own, *(host.lower().rstrip(".") for host in media_hosts)}

    def may_follow(self, url: str) -> bool:
        """Return whether a link may be followed at all, or sent to a browser."""
        try:
            parts = urlsplit(url)
            host, _port = (parts.hostname or "").lower().rstrip("."), parts.port
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            return False
        if host in self._trusted:
            return True
        if looks_numeric(host):
            address = address_of(host)
            return address is not None and is_public(address)
        return "." in host and not host.endswith((".localhost", ".local", ".internal"))

    def may_connect(self, host: str, address: str) -> bool:
        """Return whether to connect: trusted hosts may have any address, others a public one."""
        if host.lower().rstrip(".") in self._trusted:
            return True
        ip = address_of(address)
        return ip is not None and is_public(ip)


def looks_numeric(host: str) -> bool:
    """Detect what some resolvers take for an address: `127.1`, `0x7f000001`, `017700000001`."""
    last = host.rsplit(".", 1)[-1]
    return ":" in host or last.isdigit() or last.startswith("0x")


def address_of(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text.split("%", maxsplit=1)[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def is_public(address: Address) -> bool:
    if any(address in network for network in REFUSED):
        return False
    if address.version == 6 and address not in GIVEN_OUT:
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved
