"""The worker's orders for the engine."""

import math
from dataclasses import dataclass

from common.addresses.reachable import Reach


@dataclass(frozen=True)
class EngineSettings:
    network: str  # internet, or loopback
    port: int  # 0: the system chooses
    interface: str  # an address or the name of a device; empty for all
    proxy: str  # socks5://name:password@host:port, or http://…; empty for none
    utp: bool  # also connect to peers over uTP
    port_mapping: bool  # ask the router to let peers in, by UPnP and NAT-PMP
    fetch_private: bool  # allow peers, trackers, and web seeds in private networks

    @property
    def reach(self) -> Reach:
        return Reach(self.network, self.fetch_private)


@dataclass(frozen=True)
class TransferLimits:
    """The limits of all transfers together, or those that one has of its own. None: no such."""

    download_bytes_per_second: int | None = None  # 0: no limit, like the next
    upload_bytes_per_second: int | None = None
    seed_ratio: float | None = None  # of each torrent, like the next
    seed_minutes: int | None = None

    @property
    def has_speed(self) -> bool:
        return bool(self.download_bytes_per_second or self.upload_bytes_per_second)

    def is_enough(self, of_all: "TransferLimits", ratio: float, minutes: float) -> bool:
        """Return whether a torrent with these limits of its own has been seeded enough."""
        ratios = (self.seed_ratio, of_all.seed_ratio, math.inf)
        all_minutes = (self.seed_minutes, of_all.seed_minutes, math.inf)
        most_ratio, most_minutes = (
            next(most for most in limits if most is not None) for limits in (ratios, all_minutes)
        )
        return ratio >= most_ratio or minutes >= most_minutes


@dataclass(frozen=True)
class Order:
    """A torrent to fetch or seed, by its magnet link, `metadata.torrent` in its folder, or both."""

    key: str  # the transfer's id as digits
    folder: str  # exists, and belongs to this order alone
    magnet: str = ""
    may_download: bool = False  # if False, stop once the files are known, until `proceed`
    seeding: bool = False  # complete and in the library: only upload, never write
    uploaded_bytes: int = 0  # in total, before this order
    unwanted: tuple[int, ...] = ()  # indexes of files not to fetch
    choice: int = 0  # the number of this choice of files, which Complete repeats
    limits: TransferLimits = TransferLimits()
