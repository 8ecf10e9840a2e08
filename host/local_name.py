"""The name by which devices in the home find Ferry, such as ferry.local, by multicast DNS.

The worker claims the name. If another device has it, or another Ferry, it claims ferry-2.local.
"""

import logging
import secrets
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import ifaddr
from django.conf import settings

from common.addresses import own
from common.addresses.networks import parse_address
from common.storage import durable
from webui.people.device_addresses import is_loopback

if TYPE_CHECKING:
    from zeroconf import ServiceInfo, Zeroconf

log = logging.getLogger("ferry.names")

SERVICE = "_http._tcp.local."
MOST_NAMES = 20
# Devices answer at most once a second.
ANSWER_MILLISECONDS = 1500
# Networks inside this machine, and tunnels: phones at home reach nothing there.
VIRTUAL = (
    "br-", "cni", "docker", "lxc", "podman", "tailscale", "tap", "tun", "veth", "virbr", "wg",
)  # fmt: skip


def path() -> Path:
    return Path(settings.DATA_DIR) / "local_name"


def current() -> str:
    """Return the name that Ferry claimed last; "" if there is none."""
    if not is_wanted():
        return ""
    try:
        return f"{path().read_text()}.local"
    except OSError:
        return ""


def is_wanted() -> bool:
    return settings.LOCAL_NAME != "off" and not is_loopback(settings.HOST)


def candidates() -> list[str]:
    """Return the names to try. The last one comes first, since it is in people's bookmarks."""
    label = settings.LOCAL_NAME
    names = [label, *(f"{label}-{number}" for number in range(2, MOST_NAMES))]
    with suppress(OSError):
        last = path().read_text()
        names.sort(key=lambda name: name != last)
    return names


def reachable_addresses() -> list[str]:
    """Return this machine's addresses in the networks of the home."""
    if settings.HOST not in ("0.0.0.0", "::"):  # noqa: S104
        return [settings.HOST]
    addresses = [
        parse_address(ip.ip if isinstance(ip.ip, str) else ip.ip[0])
        for adapter in ifaddr.get_adapters()
        if not adapter.nice_name.startswith(VIRTUAL)
        for ip in adapter.ips
    ]
    usable = [each for each in addresses if each and each.is_private and not each.is_loopback]
    return sorted(str(each) for each in usable if not each.is_link_local)


def choose() -> None:
    """Save a name that is free now, before Ferry prints it. The worker claims it a moment later."""
    from zeroconf import Zeroconf  # noqa: PLC0415  This takes 0.1 s and memory.

    addresses = reachable_addresses()
    if is_wanted() and addresses:
        with suppress(OSError), Zeroconf(interfaces=addresses) as network:
            name = next(filter(lambda name: is_free(network, name), candidates()), None)
            if name:
                durable.write(path(), name.encode())


def is_free(network: "Zeroconf", name: str) -> bool:
    """Return whether no other device has the name, and no other Ferry, even on this machine."""
    from zeroconf import DNSQuestionType, ServiceInfo  # noqa: PLC0415  As above.

    # Ask for answers to all: the kernel gives those to one socket to any of several on a machine.
    answer = ServiceInfo(SERVICE, f"{name}.{SERVICE}", server=f"{name}.local.")
    answer.request(network, ANSWER_MILLISECONDS, DNSQuestionType.QM)
    # This machine itself may already have the name, from another program.
    ours = {str(address) for address in own.all_addresses()}
    return answer.port is None and set(answer.parsed_addresses()) <= ours


class Registration:
    """The name of one Ferry, held until it is closed."""

    def __init__(self) -> None:
        self._network: Zeroconf | None = None
        self._addresses: list[str] = []
        self._name = ""
        # Tells which of two Ferrys that began at the same moment has to change its name.
        self._id = secrets.token_hex(8)

    def keep(self, _now: datetime) -> None:
        """Claim a name, and again if addresses have changed or another Ferry has the same name."""
        addresses = reachable_addresses() if is_wanted() else []
        if addresses == self._addresses and not self._is_contested():
            return
        self.close()
        if not addresses:
            return
        from zeroconf import Zeroconf  # noqa: PLC0415  As above.

        try:
            self._network = Zeroconf(interfaces=addresses)
        except OSError as trouble:
            log.warning("can't be found by name: %s", trouble)
        else:
            self._register(self._network, addresses)
        self._addresses = addresses

    def close(self) -> None:
        """Tell the network that the name is free again."""
        if self._network:
            self._network.close()
        self._network, self._addresses = None, []

    def _register(self, network: "Zeroconf", addresses: list[str]) -> None:
        from zeroconf import NonUniqueNameException  # noqa: PLC0415  As above.

        for name in candidates():
            if not is_free(network, name):
                continue
            with suppress(NonUniqueNameException):
                network.register_service(self._service(name, addresses))
                self._name = name
                durable.write(path(), name.encode())
                log.info("found by name=%s.local", name)
                return
        log.warning("can't be found by name: all names are taken")

    def _service(self, name: str, addresses: list[str]) -> "ServiceInfo":
        from zeroconf import ServiceInfo  # noqa: PLC0415  As above.

        return ServiceInfo(
            SERVICE,
            f"{name}.{SERVICE}",
            port=settings.PORT,
            properties={"path": f"{settings.URL_PREFIX}/", "id": self._id},
            server=f"{name}.local.",
            parsed_addresses=addresses,
        )

    def _is_contested(self) -> bool:
        if self._network is None:
            return False
        from zeroconf import ServiceInfo  # noqa: PLC0415  As above.

        other = ServiceInfo(SERVICE, f"{self._name}.{SERVICE}")
        if not other.load_from_cache(self._network):
            return False
        other_id = (other.properties.get(b"id") or b"").decode("ascii", "replace")
        return other_id > self._id


registration = Registration()
