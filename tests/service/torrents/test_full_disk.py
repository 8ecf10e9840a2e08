"""A disk that fills up: a tmpfs in the engine's own mount namespace."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from service.torrents.events import Complete, Metadata, Status, TorrentBroken
from tests.service.torrents.holding import content_of, holding
from tests.swarm import torrent
from tests.tools import program

pytestmark = pytest.mark.slow

PAYLOAD = bytes(range(256)) * 40_000


def confined(place: Path, megabytes: int) -> tuple[str, ...]:
    """Run the engine with a disk that others see only through /proc."""
    mount = f"mount -t tmpfs -o size={megabytes}m tmpfs {shlex.quote(str(place))}"
    run = f'{mount} && exec {shlex.quote(sys.executable)} -m service.torrents "$0"'
    return (program("unshare"), "--mount", *as_root(), "sh", "-c", run)


def as_root() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("--map-root-user",)


def enlarge(pid: int, place: Path) -> None:
    inside = [program("nsenter"), "--mount", f"--target={pid}"]
    subprocess.run([*inside, "mount", "-o", "remount,size=64m", str(place)], check=True)


@pytest.mark.promise("a full disk pauses transfers")
def test_a_full_disk_pauses_transfers_until_there_is_space(tmp_path, seeds):
    made = torrent("x", PAYLOAD)
    seeds.give(made, tmp_path / "given")
    small = tmp_path / "transfers"
    small.mkdir()
    with holding(tmp_path, confined(small, 6)) as held:
        held.engine.wait(5)
        held.engine.poll()
        seen = Path(f"/proc/{held.engine.pid}/root{small}")
        while not os.path.ismount(seen):
            held.engine.wait(0.1)
            held.engine.poll()
        (seen / "7").mkdir()
        held.add("7", made.magnet(peer=seeds.address))
        metadata = held.wait(Metadata, "7")
        assert held.wait(TorrentBroken, "7").word == "disk_full"
        assert held.wait(Status, "7", where=lambda each: each.phase == "paused")
        enlarge(held.engine.pid, small)
        held.engine.resume("7")
        # On its own, libtorrent reconnects to a lost peer only after a minute or more.
        held.wait(Complete, "7", seconds=30)
        assert content_of(seen / "7", metadata) == dict(made.files)
