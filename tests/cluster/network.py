"""Hosts on this machine: each has its own network namespace, and a link to a common bridge."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import pytest

from tests.tools import lacks, program

BRIDGE = "ferry0"
SUBNET = "10.203.77"
MOST_HOSTS = 40


def address_of(number: int) -> str:
    return f"{SUBNET}.{number}"


# The addresses of the bridge and of all hosts.
ADDRESSES = [address_of(number) for number in range(1, MOST_HOSTS)]


@dataclass
class Host:
    number: int
    spared: set[int] = field(default_factory=set)  # processes that aren't the machine's

    @property
    def name(self) -> str:
        return f"ferry-{self.number}"

    @property
    def address(self) -> str:
        return address_of(self.number)

    @property
    def prefix(self) -> tuple[str, ...]:
        """A prefix that runs a command on this host; it dies with the tests."""
        return ("setpriv", "--pdeathsig=KILL", "ip", "netns", "exec", self.name)

    def connect(self) -> None:
        ip("netns", "add", self.name)
        ip("link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("link", "set", self._link, "master", BRIDGE, "up")
        ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            ip("-n", self.name, "link", "set", device, "up")

    def remove(self) -> None:
        self.kill()
        with suppress(subprocess.CalledProcessError):
            ip("netns", "del", self.name)

    def pids(self) -> list[int]:
        return [
            int(pid)
            for pid in ip("netns", "pids", self.name).split()
            if int(pid) not in self.spared
        ]

    def kill(self) -> None:
        """Kill all processes of this host at once, as if its power were cut."""
        with suppress(subprocess.CalledProcessError):
            for pid in self.pids():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        ip("link", "set", self._link, "down")
        try:
            yield
        finally:
            ip("link", "set", self._link, "up")

    @property
    def _link(self) -> str:
        return f"ferry-v{self.number}"


@contextmanager
def network(numbers: list[int]) -> Iterator[list[Host]]:
    """Yield hosts with these numbers, connected by a bridge that this machine is on, too."""
    if os.geteuid() != 0:
        lacks("the rights of root")
    program("ip")
    hosts = [Host(number) for number in numbers]
    remove(hosts)
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
    except subprocess.CalledProcessError as refusal:
        pytest.skip(f"This machine lets no one make a network: {refusal.stderr}")
    try:
        ip("addr", "add", f"{address_of(1)}/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for host in hosts:
            host.connect()
        yield hosts
    finally:
        remove(hosts)


def remove(hosts: list[Host]) -> None:
    """Remove the hosts and the bridge, including leftovers of killed tests."""
    for host in hosts:
        host.remove()
    with suppress(subprocess.CalledProcessError):
        ip("link", "del", BRIDGE)


def ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
    return done.stdout
