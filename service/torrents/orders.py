"""The worker's orders for the engine."""

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
    download_limit_bytes: int  # per second, like the next; 0: no limit
    upload_limit_bytes: int
    seed_ratio: float
    seed_minutes: int

    @property
    def reach(self) -> Reach:
        return Reach(self.network, self.fetch_private)


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
