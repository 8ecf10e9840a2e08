"""Distinguish homes and hosts by their addresses."""

import ipaddress


def network_of(address: str) -> str:
    """Return the network of one home or host: in IPv6, anyone can get a whole /64."""
    try:
        # A link-local address carries the name of the interface: fe80::1%eth0.
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network(f"{ip}/64", strict=False))
