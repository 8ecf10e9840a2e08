"""The worker's orders for the engine."""

from dataclasses import dataclass

from service.network import Reach


@dataclass(frozen=True)
class EngineSettings:
    network: str  # internet, or loopback
    port: int  # 0: the system chooses
    interface: str  # an address or the name of a device; empty for all
    proxy: str  # socks5://name:password@host:port, or http://…; empty for none
    utp: bool  # peers may be met over uTP, too
    port_mapping: bool  # the router is asked to let peers in, by UPnP and NAT-PMP
    fetch_private: bool  # peers, trackers and web seeds in private networks are allowed
    download_limit_bytes: int  # per second, as the next; 0 for none
    upload_limit_bytes: int
    seed_ratio: float
    seed_minutes: int

    @property
    def reach(self) -> Reach:
        return Reach(self.network, self.fetch_private)


@dataclass(frozen=True)
class Order:
    """One wanted torrent: its magnet link, or `metadata.torrent` in its folder, or both."""

    key: str  # the transfer's id as digits
    folder: str  # exists, and belongs to this order alone
    magnet: str = ""
    may_download: bool = False  # else it stops once its files are known, until `proceed`
    seeding: bool = False  # is whole and in the library: is only given to others, never written
    uploaded_bytes: int = 0  # ever, before this order
    unwanted: tuple[int, ...] = ()  # files that aren't fetched, by their index
