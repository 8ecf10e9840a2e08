"""Transfers by the thousand: idle in one worker, in the listing, and during their import."""

import os
import secrets
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import median
from threading import Event

import httpx
from django.utils import timezone

from lab.bench import library
from lab.bench.clients import wait_until
from lab.bench.harness import ROUNDS, Row, seconds
from lab.bench.torrents import own_megabytes
from service.library.library import root_of
from service.models import Account, Transfer
from service.store.blobs import library_store
from service.transfers import transfers
from service.transfers.download_folders import DownloadPlan, download_folder
from service.worker.import_files import Job, put_in_library
from tests.service.builders import add_torrent
from tests.service.working import Working, working
from tests.serving import serving
from tests.swarm import torrent

MEGABYTE = 2**20
IDLE, IDLE_SECONDS = 1000, 20.0
LISTED, CHANGED = 2000, 500
WAITING = Event()


def rows(_home: Path) -> Iterator[Row]:
    # First, or the worker would read the files of the others.
    yield from idle()
    yield from landing()
    yield from listing_and_changing()


def landing() -> Iterator[Row]:
    """Measure hashing a file in the disk cache, as a download leaves it; then the other steps."""
    owner = library.account("landing@example.org")
    hashed = [linking_seconds(1024 * MEGABYTE) for _ in range(ROUNDS)]
    rate = 1024 * MEGABYTE / median(hashed) / 1e9
    yield Row("hashed on the way into the library", rate, " GB/s", at_least=1.0)
    taken = [planted(owner, 10 * 1024 * MEGABYTE) for _ in range(ROUNDS)]
    yield Row("10 GiB hashed, put into a folder", median(taken), " s", under=1, raw={"s": taken})


def linking_seconds(size_bytes: int) -> float:
    place = Path(os.environ["DATA_DIR"], "whole")
    block = secrets.token_bytes(MEGABYTE)
    with place.open("wb") as file:
        for _ in range(size_bytes // MEGABYTE):
            file.write(block)
    started = time.perf_counter()
    (stored,) = library_store().link_all([place])
    took = time.perf_counter() - started
    library_store().delete(stored.blob)
    place.unlink()
    return took


def planted(owner: Account, size_bytes: int) -> float:
    now = timezone.now()
    transfer = Transfer.objects.create(
        account=owner,
        folder=root_of(owner),
        title=f"film {now.timestamp()}",
        size_bytes=size_bytes,
        state=Transfer.State.MOVING,
        leased_by="bench",
        created_at=now,
        updated_at=now,
    )
    folder = download_folder(transfer.pk)
    job = Job(transfer.pk, "bench", folder, sums={}, is_seeding=False, now=now)
    plan = DownloadPlan(is_folder=False, files=((0, (), size_bytes),))
    stored = library.blob(size_bytes)
    return seconds(lambda: put_in_library(job, plan, {0: stored}))


def listing_and_changing() -> Iterator[Row]:
    owner = library.account("many@example.org")
    now = timezone.now()
    Transfer.objects.bulk_create(recorded(owner, number, now) for number in range(LISTED))
    auth = (owner.email, library.PASSWORD)
    with (
        serving() as server,
        httpx.Client(base_url=server.url, auth=auth, trust_env=False) as v1,
    ):
        assert len(v1.get("/rest/transfer").json()["transfers"]) == LISTED
        taken = [seconds(lambda: v1.get("/rest/transfer")) * 1000 for _ in range(3 * ROUNDS)]
        name = f"{LISTED:,} recorded transfers listed"
        yield Row(name, median(taken), " ms", under=50, raw={"ms": taken})
        own = Transfer.objects.filter(account=owner)
        ids = ",".join(map(str, own.values_list("pk", flat=True)[: 4 * CHANGED : 4]))
        for words, action in (("resumed", "resume"), ("paused", "pause"), ("moved first", "first")):
            form = {"ids": ids, "action": action}
            spent = seconds(lambda form=form: v1.post("/rest/transfers/change", data=form)) * 1000
            yield Row(f"{CHANGED} of {LISTED:,} transfers {words}", spent, " ms", under=1000)
    own.delete()


def recorded(owner: Account, number: int, now: datetime) -> Transfer:
    return Transfer(
        account=owner,
        folder=root_of(owner),
        info_hash_v1=f"{number:040x}",
        title=f"Film {number}",
        title_key=f"film {number}",
        state=Transfer.State.STOPPED,
        created_at=now,
        updated_at=now,
    )


def idle() -> Iterator[Row]:
    """Measure idle transfers: half magnets that no peer answers, half torrents that no peer has."""
    owner, now = library.account("idle@example.org"), timezone.now()
    for number in range(IDLE):
        what = torrent(f"idle {number}", number.to_bytes(4, "big") * 1000)
        if number % 2:
            transfers.add_magnet(owner, what.magnet(), 0, now)
        else:
            add_torrent(owner, what.content, 0, now)
    with working(
        TORRENT_NETWORK="loopback",
        TORRENT_PORT="0",
        LOG_LEVEL="INFO",
        ACTIVE_TRANSFERS=str(IDLE),
    ) as worker:
        begun = Transfer.objects.filter(account=owner).exclude(state=Transfer.State.QUEUED)
        wait_until(lambda: begun.count() == IDLE)
        WAITING.wait(IDLE_SECONDS / 2)
        yield from of_core_and_memory(worker)


def of_core_and_memory(worker: Working) -> Iterator[Row]:
    pids = [worker.process.pid, *worker.children()]
    before = sum(map(cpu_seconds, pids))
    WAITING.wait(IDLE_SECONDS)
    percent = (sum(map(cpu_seconds, pids)) - before) / IDLE_SECONDS * 100
    yield Row(f"{IDLE:,} idle transfers, of one core", percent, " %", under=5)
    memory = sum(map(own_megabytes, pids))
    yield Row(f"{IDLE:,} idle transfers, memory", memory, " MB", under=300)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
