"""Decide where the site fetches from for a foreign service, and where it sends browsers.

A service may return links to any address. Ferry follows links to the service's own host, to hosts
that the owner named, and to public addresses. It checks the address of each connection, because a
name that resolved to a public address may resolve to the router's next time.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from common.addresses.reachable import Reach, is_web_port

PUBLIC = Reach()


class LinkPolicy:
    def __init__(self, service_url: str, media_hosts: Iterable[str]) -> None:
        own = (urlsplit(service_url).hostname or "").lower()
        self._trusted = {own, *(host.lower().rstrip(".") for host in media_hosts)}

    def may_follow(self, url: str) -> bool:
        """Return whether a link may be followed at all, or sent to a browser."""
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower().rstrip("."), parts.port
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not host or parts.username is not None:
            return False
        if host in self._trusted:
            return True
        return (port is None or is_web_port(port)) and PUBLIC.may_contact(host)

    def may_connect(self, host: str, address: str) -> bool:
        """Return whether to connect: trusted hosts may have any address, others a public one."""
        if host.lower().rstrip(".") in self._trusted:
            return True
        return PUBLIC.may_connect(address)
