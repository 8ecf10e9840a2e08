"""Decide whom libtorrent may contact: by its IP filter, and by the URLs of trackers and web seeds.

libtorrent resolves names itself and checks every address of peers, trackers, and web seeds against
its filter. A proxy resolves names elsewhere, so only literal addresses and local names can be
refused; this module refuses them.
"""

from typing import Any
from urllib.parse import urlsplit

import libtorrent as lt

from common.addresses.reachable import Reach, is_web_port

OPEN, CLOSED = 0, 1
SCHEMES = ("http", "https", "udp")


def ip_filter(reach: Reach) -> Any:
    result = lt.ip_filter()
    for rule in reach.rules():
        first, last = rule.network[0], rule.network[-1]
        result.add_rule(str(first), str(last), OPEN if rule.is_open else CLOSED)
    return result


def is_usable(url: str, reach: Reach, *, schemes: tuple[str, ...] = SCHEMES) -> bool:
    """Return whether a tracker or web seed may be contacted, judging by its URL alone."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return False
    if parts.scheme not in schemes or not host or not (port is None or is_tracker_port(port)):
        return False
    return reach.may_contact(host)


def is_tracker_port(port: int) -> bool:
    """Return whether a tracker may have this port: a web port, or any port from 1024.

    A mail server or a router's shell could take an announce for a command. Trackers have long used
    ports that web servers don't use, but none below 1024.
    """
    return is_web_port(port) or port > 1023
