"""One gibibyte from one seeder on loopback, from adding it until it is done, beside others."""

import hashlib
import mmap
import os
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median

import httpx

from service.places import ids_on_disk
from service.store import library_store
from tests.bench import library
from tests.bench.harness import Row, in_turns, peer, peer_port
from tests.service.working import Working, working
from tests.serving import serving
from tests.swarm import Made, Tracker, bencode, in_order, made, serving_http

MEGABYTE = 2**20
SIZE_BYTES = 1024 * MEGABYTE
PIECE_BYTES = 4 * MEGABYTE
# Seldom: who asks often measures the answers, on two cores.
LOOK_SECONDS = 0.1
MOST_SECONDS = 120.0
LOOKING = threading.Event()
SEEDER = """
import sys
import libtorrent as lt
from tests.swarm import LOOPBACK
UNHINDERED = {"ignore_limits_on_local_network": True, "send_buffer_low_watermark": 4 * 2**20}
session = lt.session({**LOOPBACK, **UNHINDERED})
wanted = lt.load_torrent_file(sys.argv[1])
wanted.save_path = sys.argv[2]
wanted.trackers = []
wanted.flags |= lt.torrent_flags.seed_mode
wanted.flags &= ~(lt.torrent_flags.paused | lt.torrent_flags.auto_managed)
session.add_torrent(wanted)
print(session.listen_port(), flush=True)
sys.stdin.read()
"""
QBITTORRENT = r"""
[BitTorrent]
Session\DHTEnabled=false
Session\LSDEnabled=false
Session\PeXEnabled=false
Session\Port={port}
Session\Interface=lo
Session\InterfaceName=lo

[LegalNotice]
Accepted=true

[Preferences]
WebUI\Address=127.0.0.1
WebUI\LocalHostAuth=false
WebUI\Port={web}
"""


def rows(home: Path) -> Iterator[Row]:
    place = home / "torrents"
    place.mkdir()
    with serving_http(Tracker()) as tracker:
        big = big_torrent(place, tracker.announce)
        with seeding(place / "big.torrent", place) as address, fetching() as ours:
            tracker.peers.append(address)
            yield from beside_others(ours, place, big)


def beside_others(ours: "Ferry", place: Path, big: Made) -> Iterator[Row]:
    with others(place, big) as contestants:
        taken = in_turns(5, ours=lambda: ours.fetch(big), **contestants)
    for name, at_least in (("qbittorrent", 1.5), ("aria2", 2.5)):
        row = f"1 GiB from one seeder, speed of {name}"
        if name not in taken:
            yield Row(row, None, missing=name)
            continue
        ratio = median(taken[name]) / median(taken["ours"])
        raw = {"ours": taken["ours"], name: taken[name]}
        yield Row(row, ratio, " times", at_least=at_least, raw=raw)
    yield Row("memory of worker and engine meanwhile", ours.peak_megabytes, " MB", under=200)


def big_torrent(place: Path, tracker: str) -> Made:
    """Blocks that differ, so that no disk stores them as one."""
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
def seeding(torrent_file: Path, folder: Path) -> Iterator[str]:
    """In a process of its own: in this one it would share the interpreter with what it feeds."""
    command = [sys.executable, "-c", SEEDER, str(torrent_file), str(folder)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield f"127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


class Ferry:
    """Ours, by v1: added, done with its file in the library, and deleted."""

    def __init__(self, v1: httpx.Client, worker: Working) -> None:
        self.peak_megabytes = 0.0
        self._v1 = v1
        self._worker = worker

    def fetch(self, what: Made) -> None:
        wanted = {"torrent_file": ("big.torrent", what.content)}
        added = self._v1.post("/rest/torrent/file", files=wanted).raise_for_status().json()
        address = f"/rest/transfer/{added['id']}"
        wait_until(lambda: self._is_done(address))
        file_id = self._v1.get(address).json()["file_created"]
        for each in (address, f"/rest/file/{file_id}"):
            self._v1.delete(each).raise_for_status()
        wait_until(lambda: not list(ids_on_disk()))
        # The sweep would come later, and the rounds need the room.
        for blob in list(library_store().blobs()):
            library_store().delete(blob.blob)

    def _is_done(self, address: str) -> bool:
        pids = [self._worker.process.pid, *self._worker.children()]
        self.peak_megabytes = max(self.peak_megabytes, sum(map(own_megabytes, pids)))
        told = self._v1.get(address).json()
        if told["state"] == "failed":
            raise RuntimeError(str(told))
        return told["progress"] == 101


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


def own_megabytes(pid: int) -> float:
    """Without what is mapped from files."""
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(each for each in status.splitlines() if each.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


@contextmanager
def others(place: Path, what: Made) -> Iterator[dict[str, Callable[[], None]]]:
    contestants: dict[str, Callable[[], None]] = {}
    aria2, qbittorrent = peer("aria2c"), peer("qbittorrent-nox")
    if aria2:
        contestants["aria2"] = lambda: fetch_by_aria2(aria2, place)
    if not qbittorrent:
        yield contestants
        return
    with running_qbittorrent(qbittorrent, place / "profile") as web:
        contestants["qbittorrent"] = lambda: fetch_by_qbittorrent(web, place, what)
        yield contestants


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


@contextmanager
def running_qbittorrent(program: str, profile: Path) -> Iterator[httpx.Client]:
    web, config = peer_port(), profile / "qBittorrent" / "config"
    config.mkdir(parents=True)
    (config / "qBittorrent.conf").write_text(QBITTORRENT.format(port=peer_port(), web=web))
    process = subprocess.Popen(
        [program, f"--profile={profile}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(profile)},
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{web}/api/v2", trust_env=False) as client:
            wait_until(lambda: is_answering(client))
            yield client
    finally:
        process.terminate()
        process.wait(20)


def is_answering(client: httpx.Client) -> bool:
    with suppress(httpx.TransportError):
        return client.get("/app/version").is_success
    return False


def fetch_by_qbittorrent(web: httpx.Client, place: Path, what: Made) -> None:
    folder = place / "qbittorrent"
    wanted = {"torrents": (place / "big.torrent").read_bytes()}
    web.post("/torrents/add", data={"savepath": str(folder)}, files=wanted).raise_for_status()
    wait_until(lambda: any(each["progress"] == 1 for each in web.get("/torrents/info").json()))
    web.post("/torrents/delete", data={"hashes": what.hash_v1, "deleteFiles": "true"})
    wait_until(lambda: not web.get("/torrents/info").json())


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError("A peer takes too long")
        LOOKING.wait(LOOK_SECONDS)
