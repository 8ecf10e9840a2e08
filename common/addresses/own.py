"""This machine's addresses and names, as other devices in the home would type them."""

import ipaddress
import re
import socket
import threading
import time

import ifaddr

from common.addresses.networks import Address

# Endings that public DNS never answers, so that no stranger can own such a name.
HOME_ENDINGS = ("", ".local", ".lan", ".home.arpa")
FRESH_SECONDS = 30


def names() -> list[str]:
    """Return this machine's names; none if it has an underscore, which Django refuses."""
    name = socket.gethostname().lower().split(".")[0]
    return [name + ending for ending in HOME_ENDINGS] if re.fullmatch(r"[a-z0-9-]+", name) else []


def resolving_name() -> str | None:
    """Return a name that other devices can probably use: here, it resolves to a LAN address."""
    ours = {str(address) for address in lan()}
    for name in names():
        try:
            entries = socket.getaddrinfo(name, None, family=socket.AF_INET)
        except OSError:
            continue
        if any(entry[4][0] in ours for entry in entries):
            return name
    return None


def all_addresses() -> set[Address]:
    ips = [ip.ip for adapter in ifaddr.get_adapters() for ip in adapter.ips]
    return {ipaddress.ip_address(ip if isinstance(ip, str) else ip[0]) for ip in ips}


def lan() -> list[Address]:
    """Return the IPv4 addresses that a phone at home may reach, the likeliest first."""
    usable = [
        address
        for address in all_addresses()
        if address.version == 4 and not address.is_loopback and not address.is_link_local
    ]
    return sorted(usable, key=lambda address: (not str(address).startswith("192.168."), address))


class OwnAddresses:
    """This machine's addresses, read again when they are needed and have become stale."""

    def __init__(self) -> None:
        self._addresses: set[Address] = set()
        self._read_at = float("-inf")
        self._lock = threading.Lock()

    def __contains__(self, address: object) -> bool:
        with self._lock:
            if time.monotonic() - self._read_at > FRESH_SECONDS:
                self._addresses = all_addresses()
                self._read_at = time.monotonic()
            return address in self._addresses


own_addresses = OwnAddresses()
