"""An engine behind a router that speaks NAT-PMP, in networks of their own.

Run it as root below `unshare --net`: it prints the status of the engine's session, as JSON, once
the router has answered and a peer beyond it has connected.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from tests.service.torrents.holding import holding
from tests.swarm import torrent

ROUTER, MACHINE, PORT = "1.2.3.1", "1.2.3.2", 6881
NAT_PMP_PORT = 5351
PATIENCE_SECONDS = 60


def main(role: str, *arguments: str) -> None:
    {"machine": machine, "router": router}[role](*arguments)


def machine(answer: str, folder: str) -> None:
    """Start the router in another network, and the engine in this one."""
    command = ["unshare", "--net", sys.executable, "-m", __spec__.name, "router", answer]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as beyond:
        run("ip link set lo up")
        while not is_apart(beyond.pid):
            assert beyond.poll() is None
        run(f"ip link add here type veth peer name there netns {beyond.pid}")
        run(f"ip addr add {MACHINE}/24 dev here")
        run("ip link set here up")
        run(f"nsenter -t {beyond.pid} -n ip addr add {ROUTER}/24 dev there")
        run(f"nsenter -t {beyond.pid} -n ip link set there up")
        run(f"ip route add default via {ROUTER}")
        beyond.stdin.write(b"go\n")
        beyond.stdin.flush()
        print(json.dumps(seen(Path(folder))))  # noqa: T201  It is the result.
        beyond.kill()


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def is_apart(pid: int) -> bool:
    return os.readlink(f"/proc/{pid}/ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115


def seen(folder: Path) -> dict:
    made = torrent("film.mkv", b"film" * 50_000)
    with holding(folder, network="internet", port=PORT, port_mapping=True) as held:
        (held.folder("7") / "0").write_bytes(b"film" * 50_000)
        held.add("7", made, seeding=True)
        until = time.monotonic() + PATIENCE_SECONDS
        session = held.engine.session
        while time.monotonic() < until and not (session.mapping and session.is_reachable):
            held.engine.wait(0.1)
            held.engine.poll()
            session = held.engine.session
    return asdict(session)


def router(answer: str) -> None:
    """Answer requests to forward a port, and connect to the machine as a peer does."""
    sys.stdin.readline()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.bind((ROUTER, NAT_PMP_PORT))
        threading.Thread(target=connect, daemon=True).start()
        while True:
            request, client = asked.recvfrom(100)
            asked.sendto(response(request, 0 if answer == "accept" else 2), client)


def response(request: bytes, code: int) -> bytes:
    version, operation = request[:2]
    if version or not operation:
        # It doesn't speak PCP, and has no public address.
        return struct.pack("!BBHI4s", 0, 128 + operation, 1, 1_000, bytes(4))
    inner, outer, seconds = struct.unpack("!HHI", request[4:12])
    return struct.pack("!BBHIHHI", 0, 128 + operation, code, 1_000, inner, outer, seconds)


def connect() -> None:
    while True:
        with suppress(OSError), socket.create_connection((MACHINE, PORT), timeout=5) as peer:
            peer.recv(1)
        threading.Event().wait(0.2)


if __name__ == "__main__":
    main(*sys.argv[1:])
