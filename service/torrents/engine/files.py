"""Read and write what the engine keeps in a transfer's folder, beside the files."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
METADATA = "metadata.torrent"
RESUME = "resume"
SUM_BYTES = 32


class TorrentFolder:
    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def metadata(self, most_bytes: int) -> bytes | None:
        """Return the metadata, if any; one byte more than `most_bytes` if it is too large."""
        with suppress(FileNotFoundError), (self.folder / METADATA).open("rb") as file:
            return file.read(most_bytes + 1)
        return None

    def keep_metadata(self, content: bytes) -> None:
        replace(self.folder / METADATA, content)

    def resume(self) -> bytes | None:
        """Return the resume data, or None if it is missing, damaged, or from before a reboot.

        What libtorrent wrote survives a crash of its process, but not of the machine: it may then
        be zeros, so everything is checked again.
        """
        with suppress(OSError):
            content = (self.folder / RESUME).read_bytes()
            if content[:SUM_BYTES] == sum_of(content[SUM_BYTES:]):
                return content[SUM_BYTES:]
        return None

    def keep_resume(self, content: bytes) -> None:
        replace(self.folder / RESUME, sum_of(content) + content)

    def forget_resume(self) -> None:
        (self.folder / RESUME).unlink(missing_ok=True)


def sum_of(content: bytes) -> bytes:
    boot = BOOT_ID.read_bytes() if BOOT_ID.exists() else b""
    return hashlib.sha256(boot + content).digest()


def replace(target: Path, content: bytes) -> None:
    draft = target.with_name(f"{target.name}.new")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(target)
