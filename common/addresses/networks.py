"""Distinguish homes and hosts by their addresses."""

import ipaddress

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def parse_address(text: str) -> Address | None:
    """Return an address, as IPv4 where the system maps it into IPv6; None for other text."""
    try:
        # A link-local address carries the name of the interface: fe80::1%eth0.
        address = ipaddress.ip_address(text.strip("[]").partition("%")[0])
    except ValueError:
        return None
    mapped: Address | None = getattr(address, "ipv4_mapped", None)
    return mapped or address


def network_of(address: str) -> str:
    """Return the network of one home or host: in IPv6, anyone can get a whole /64."""
    ip = parse_address(address)
    if ip is None:
        return address
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network(f"{ip}/64", strict=False))
