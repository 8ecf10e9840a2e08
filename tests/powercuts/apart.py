"""A mount namespace of a test: no other test sees its disks, and so none keeps them in use."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.running import BASE
from tests.service.working import until
from tests.tools import needs, program

SIZE_BYTES = 2**30


class Apart:
    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.prefix = (program("nsenter"), "--mount", f"--target={pid}", f"--wd={BASE}")

    def run(self, name: str, *arguments: str | Path) -> None:
        subprocess.run([*self.prefix, program(name), *arguments], check=True, capture_output=True)

    def path(self, place: Path) -> Path:
        """Return where this process finds a place of the namespace."""
        return Path(f"/proc/{self._pid}/root{place}")

    @contextmanager
    def disk(self, place: Path, image: Path, options: str) -> Iterator[str]:
        """Mount an empty ext4 disk, and yield its device."""
        with image.open("wb") as file:
            file.truncate(SIZE_BYTES)
        self.path(place).mkdir()
        make = ("-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1")
        subprocess.run([program("mkfs.ext4"), *make, image], check=True)
        command = [program("losetup"), "--find", "--show", image]
        device = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        try:
            self.run("mount", "-o", options, device, place)
            yield device
        finally:
            # The mounts end with their namespace, and the device with its last mount.
            subprocess.run([program("losetup"), "--detach", device], check=True)


@contextmanager
def apart() -> Iterator[Apart]:
    needs([program("losetup"), "--find"], "the right to use a loop device")
    command = [program("unshare"), "--mount", "--propagation=private", program("sleep"), "3600"]
    holder = subprocess.Popen(command)
    try:
        ours = Path("/proc/self/ns/mnt").readlink()
        until(lambda: Path(f"/proc/{holder.pid}/ns/mnt").readlink() != ours)
        yield Apart(holder.pid)
    finally:
        holder.kill()
        holder.wait()
