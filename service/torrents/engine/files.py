"""Read and write what the engine keeps in a transfer's folder, beside the files."""

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from common.storage import durable
from service.torrents.engine.session import LARGEST_METADATA_BYTES

METADATA = "metadata.torrent"
RESUME = "resume"
SUM_BYTES = 32


class TorrentFolder:
    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def metadata(self) -> bytes | None:
        """Return the metadata, if any; if it is too large, one byte more than allowed."""
        with suppress(FileNotFoundError), (self.folder / METADATA).open("rb") as file:
            return file.read(LARGEST_METADATA_BYTES + 1)
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

    def lengthen_parts(self, of_hash: str, layout: Any) -> None:
        """Lengthen libtorrent's file of pieces that files share, by a hole.

        libtorrent fails to move a piece whose end it hasn't written, if that is beyond the file's.
        """
        header_bytes = 4 * layout.num_pieces() + 2048
        size_bytes = header_bytes + 2 * layout.num_files() * layout.piece_length()
        with (self.folder / f".{of_hash}.parts").open("ab") as parts:
            parts.truncate(max(size_bytes, parts.tell()))

    def forget_resume(self) -> None:
        (self.folder / RESUME).unlink(missing_ok=True)


def sum_of(content: bytes) -> bytes:
    return hashlib.sha256(durable.read_boot_id().encode() + content).digest()


def replace(target: Path, content: bytes) -> None:
    with durable.replacing(target) as draft:
        draft.write_bytes(content)
