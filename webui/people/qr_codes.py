"""Addresses at which another device can open Ferry, as links and as QR codes."""

from dataclasses import dataclass

import segno
from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.utils.module_loading import import_string

MOST_ADDRESSES = 4


@dataclass(frozen=True)
class DeviceAddress:
    """A URL of Ferry, and its QR code."""

    url: str
    qr_path: str
    qr_size: int


def device_addresses(request: HttpRequest, path: str) -> list[DeviceAddress]:
    """Return the path at the host that the browser uses. For a loopback host, return it at this
    machine's addresses in its networks instead, provided that Ferry listens there."""
    return [device_address(f"{base}{path}") for base in bases(request)]


def bases(request: HttpRequest) -> list[str]:
    name, _port = split_domain_port(request.get_host())
    own = f"{request.scheme}://{request.get_host()}"
    if not is_loopback(name) or is_loopback(settings.HOST):
        return [own]
    addresses = [str(address) for address in import_string(settings.LAN_ADDRESSES)()]
    return [f"http://{address}:{settings.PORT}" for address in addresses[:MOST_ADDRESSES]] or [own]


def is_loopback(name: str) -> bool:
    return name == "localhost" or name.startswith("127.") or name.strip("[]") == "::1"


def device_address(url: str) -> DeviceAddress:
    """Draw the dark modules as one SVG path. The page adds the quiet zone around them."""
    rows = segno.make(url, error="m", micro=False).matrix
    runs = [
        f"M{start} {number}.5h{length}"
        for number, row in enumerate(rows)
        for start, length in runs_of(row)
    ]
    return DeviceAddress(url, "".join(runs), len(rows))


def runs_of(row: bytearray) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    start = None
    for at, is_dark in enumerate([*row, 0]):
        if is_dark and start is None:
            start = at
        elif not is_dark and start is not None:
            runs.append((start, at - start))
            start = None
    return runs
