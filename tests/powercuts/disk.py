"""A disk whose power can be cut: ext4 on a loop device, which needs root."""

import fcntl
import os
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service.working import until
from tests.tools import needs, program

# <uapi/linux/ext4.h>: stop at once, and write nothing more, not even the journal.
EXT4_IOC_SHUTDOWN = 0x8004587D
EXT4_GOING_FLAGS_NOLOGFLUSH = 2
SIZE_BYTES = 2**30
# By default, ext4 writes unsynced data every five seconds, and so before most cuts.
OPTIONS = "commit=300"


class Disk:
    def __init__(self, device: str, place: Path) -> None:
        self.device, self.place = device, place

    def plug_in(self) -> None:
        run("mount", "-o", OPTIONS, self.device, str(self.place))

    def cut(self) -> None:
        """Lose all data written but not synced; later writes fail."""
        cut_off(self.place)

    def unplug(self) -> None:
        """Unmount the disk, once no process uses it, and wait for the kernel to release the device.

        Otherwise, the device would come back with what the cut has lost.
        """
        run("umount", str(self.place))
        until(lambda: not Path(f"/proc/fs/ext4/{Path(self.device).name}").exists())


def cut_off(place: Path) -> None:
    folder = os.open(place, os.O_RDONLY)
    try:
        flags = struct.pack("I", EXT4_GOING_FLAGS_NOLOGFLUSH)
        fcntl.ioctl(folder, EXT4_IOC_SHUTDOWN, flags)
    finally:
        os.close(folder)


@contextmanager
def disk_at(folder: Path) -> Iterator[Disk]:
    """Mount an empty disk at `folder`/data."""
    needs([program("losetup"), "--find"], "the right to use a loop device")
    image, place = folder / "disk.img", folder / "data"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(SIZE_BYTES)
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", str(image))
    device = run("losetup", "--find", "--show", str(image)).strip()
    disk = Disk(device, place)
    try:
        disk.plug_in()
        yield disk
    finally:
        if place.is_mount():
            disk.unplug()
        run("losetup", "--detach", device)
        image.unlink()


def run(name: str, *arguments: str) -> str:
    return subprocess.run(
        [program(name), *arguments], check=True, capture_output=True, text=True
    ).stdout
