"""One gibibyte from one seeder on loopback, from adding until done, beside other clients."""

import hashlib
import mmap
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import median

import httpx

from common.addresses.own import lan
from lab.bench import library
from lab.bench.clients import MOST_SECONDS, running_qbittorrent, running_transmission, wait_until
from lab.bench.harness import Row, in_turns, peer, peer_port
from lab.soak.growth import pss_bytes
from service.store.blobs import library_store
from service.transfers.download_folders import ids_on_disk
from tests.running import family_of
from tests.service.working import Working, working
from tests.serving import serving
from tests.swarm import Made, Tracker, bencode, in_order, made, serving_http

MEGABYTE = 2**20
SIZE_BYTES = 1024 * MEGABYTE
PIECE_BYTES = 4 * MEGABYTE
SEEDER = """
import sys
import libtorrent as lt
from tests.swarm import LOOPBACK
UNHINDERED = {"ignore_limits_on_local_network": True, "send_buffer_low_watermark": 4 * 2**20}
there = {"listen_interfaces": f"{sys.argv[3]}:0"}
session = lt.session({**LOOPBACK, **UNHINDERED, **there})
wanted = lt.load_torrent_file(sys.argv[1])
wanted.save_path = sys.argv[2]
wanted.trackers = []
wanted.flags |= lt.torrent_flags.seed_mode
wanted.flags &= ~(lt.torrent_flags.paused | lt.torrent_flags.auto_managed)
session.add_torrent(wanted)
print(session.listen_port(), flush=True)
sys.stdin.read()
"""


def rows(home: Path) -> Iterator[Row]:
    place = home / "torrents"
    place.mkdir()
    with serving_http(Tracker()) as tracker:
        big = big_torrent(place, tracker.announce)
        with seeding(place, "127.0.0.1") as address, fetching() as ours:
            tracker.peers.append(address)
            yield from beside_others(ours, place, big)


def beside_others(ours: "Ferry", place: Path, big: Made) -> Iterator[Row]:
    with others(place, big) as contestants:
        taken = in_turns(5, ours=lambda: ours.fetch(big), **contestants)
    for name, at_least in (("qbittorrent", 2.5), ("aria2", 2.5), ("transmission", None)):
        row = f"1 GiB from one seeder, speed of {name}"
        if name not in taken:
            yield Row(row, None, missing=name)
            continue
        ratio = median(taken[name]) / median(taken["ours"])
        raw = {"ours": taken["ours"], name: taken[name]}
        yield Row(row, ratio, " times", at_least=at_least, relative="speed", raw=raw)
    yield Row("memory of worker and engine meanwhile", ours.peak_megabytes, " MB", under=200)


def big_torrent(place: Path, tracker: str) -> Made:
    """Make a torrent of blocks that differ, so that no disk stores them as one."""
    content = place / "big"
    block = secrets.token_bytes(MEGABYTE)
    with content.open("wb") as file:
        for number in range(SIZE_BYTES // MEGABYTE):
            file.write(number.to_bytes(8, "big") + block[8:])
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as payload:
        ends = range(0, SIZE_BYTES, PIECE_BYTES)
        hashes = [hashlib.sha1(payload[at : at + PIECE_BYTES]).digest() for at in ends]
    info = {"name": "big", "piece length": PIECE_BYTES, "length": SIZE_BYTES}
    document = in_order({"announce": tracker, "info": info | {"pieces": b"".join(hashes)}})
    (place / "big.torrent").write_bytes(bencode(document))
    return made("big", {}, document, "v1", is_folder=False)


@contextmanager
def seeding(place: Path, host: str) -> Iterator[str]:
    """Seed in another process: here, the seeder would share the interpreter with the downloader."""
    command = [sys.executable, "-c", SEEDER, str(place / "big.torrent"), str(place), host]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield f"{host}:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


class Ferry:
    """Ferry, used over v1: add a torrent, wait until its file is in the library, delete both."""

    def __init__(self, v1: httpx.Client, worker: Working) -> None:
        self.peak_megabytes = 0.0
        self._v1 = v1
        self._worker = worker

    def fetch(self, what: Made) -> None:
        upload = {"torrent_file": ("big.torrent", what.content)}
        added = self._v1.post("/rest/torrent/file", files=upload).raise_for_status().json()
        address = f"/rest/transfer/{added['id']}"
        wait_until(lambda: self._is_done(address))
        file_id = self._v1.get(address).json()["file_created"]
        for each in (address, f"/rest/file/{file_id}"):
            self._v1.delete(each).raise_for_status()
        wait_until(lambda: not list(ids_on_disk()))
        # The sweep would come later, but the rounds need the space.
        for blob in list(library_store().blobs()):
            library_store().delete(blob.blob)

    def _is_done(self, address: str) -> bool:
        now = own_megabytes(self._worker.process.pid)
        self.peak_megabytes = max(self.peak_megabytes, now)
        transfer = self._v1.get(address).json()
        if transfer["state"] == "failed":
            raise RuntimeError(str(transfer))
        return transfer["progress"] == 101


@contextmanager
def fetching() -> Iterator[Ferry]:
    owner = library.account("torrents@example.org")
    auth = (owner.email, library.PASSWORD)
    with (
        serving() as server,
        working(TORRENT_NETWORK="loopback", TORRENT_PORT="0", LOG_LEVEL="INFO") as worker,
        httpx.Client(base_url=server.url, auth=auth, trust_env=False, timeout=60) as v1,
    ):
        yield Ferry(v1, worker)


def own_megabytes(worker: int) -> float:
    """Return the memory of a worker and its children, without what is mapped from files."""
    total_bytes = 0
    for pid in family_of(worker):
        # A child may have ended meanwhile.
        with suppress(FileNotFoundError, ProcessLookupError):
            total_bytes += pss_bytes(Path(f"/proc/{pid}"), "Pss_Anon")
    return total_bytes / MEGABYTE


@contextmanager
def others(place: Path, big: Made) -> Iterator[dict[str, Callable[[], None]]]:
    contestants: dict[str, Callable[[], None]] = {}
    if aria2 := peer("aria2c"):
        contestants["aria2"] = lambda: fetch_by_aria2(aria2, place)
    with ExitStack() as stack:
        if qbittorrent := stack.enter_context(running_qbittorrent(place / "qbittorrent")):
            contestants["qbittorrent"] = lambda: qbittorrent.fetch(big.content, place / "theirs")
        contestants |= stack.enter_context(transmission(big, place))
        yield contestants


@contextmanager
def transmission(big: Made, place: Path) -> Iterator[dict[str, Callable[[], None]]]:
    """Seed at another address of this machine, since Transmission accepts no peer on 127.0.0.1."""
    if not lan():
        yield {}
        return
    host = str(lan()[0])
    with (
        seeding(place, host) as address,
        serving_http(Tracker(peers=[address])) as tracker,
        running_transmission(place / "transmission", host) as client,
    ):
        content = b"d8:announce%s4:info%se" % (bencode(tracker.announce.encode()), big.info)
        fetch = {"transmission": lambda: client.fetch(content, place / "its")}
        yield fetch if client else {}


def fetch_by_aria2(program: str, place: Path) -> None:
    folder = place / "aria2"
    options = [
        "--no-conf",
        "--quiet",
        "--seed-time=0",
        "--enable-dht=false",
        "--bt-enable-lpd=false",
    ]
    options += ["--file-allocation=none", "--bt-max-peers=50", f"--dir={folder}"]
    options += [f"--listen-port={peer_port()}", "--enable-peer-exchange=false"]
    subprocess.run(
        [program, *options, str(place / "big.torrent")], check=True, timeout=MOST_SECONDS
    )
    shutil.rmtree(folder)
