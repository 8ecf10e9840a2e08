"""Addresses at which another device can open Ferry, as links and as QR codes."""

from dataclasses import dataclass

import segno
from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from segno.utils import matrix_to_lines  # type: ignore[attr-defined]

from common.addresses import own
from common.host import host

MOST_ADDRESSES = 4


@dataclass(frozen=True)
class DeviceAddress:
    url: str
    qr_path: str
    qr_size: int


def device_addresses(request: HttpRequest, path: str) -> list[DeviceAddress]:
    """Return the path at the host that the browser uses. For a loopback host, return it at this
    machine's addresses in its networks instead, provided that Ferry listens there."""
    bases = [f"{request.scheme}://{request.get_host()}"]
    if is_loopback(split_domain_port(request.get_host())[0]):
        bases = network_bases() or bases
    return [device_address(f"{base}{path}") for base in bases]


def device_address(url: str) -> DeviceAddress:
    """Draw the dark modules as one SVG path. The page adds the quiet zone around them."""
    rows = segno.make(url, error="m", micro=False).matrix
    lines = matrix_to_lines(rows, 0, 0.5)
    path = "".join(f"M{start} {row}h{end - start}" for (start, row), (end, _row) in lines)
    return DeviceAddress(url, path, len(rows))


def network_bases() -> list[str]:
    """Return the addresses at which other devices in this machine's networks reach Ferry."""
    if is_loopback(settings.HOST):
        return []
    hosts = [*filter(None, [host().local_name()]), *map(str, own.lan())]
    return [f"http://{each}:{settings.PORT}" for each in hosts[:MOST_ADDRESSES]]


def is_loopback(name: str) -> bool:
    return name == "localhost" or name.startswith("127.") or name.strip("[]") == "::1"
