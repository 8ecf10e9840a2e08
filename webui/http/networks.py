"""Tell one home or host from another by its address."""

import ipaddress


def network_of(address: str) -> str:
    """One home or host: a whole /64 of IPv6 is handed to anyone who asks."""
    try:
        # A link-local address carries the name of the interface: fe80::1%eth0.
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ip) if ip.version == 4 else str(ipaddress.ip_network(f"{ip}/64", strict=False))
