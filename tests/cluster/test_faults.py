"""Faults on one machine of a cluster that don't kill it."""

import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.worker.leases import LEASE
from tests.cluster import sources
from tests.cluster.network import ADDRESSES
from tests.cluster.operations import FETCH_BYTES, ask, check_once, fetch, say, until_done
from tests.service.working import until
from tests.tools import program

pytestmark = [pytest.mark.cluster, pytest.mark.allow_hosts(ADDRESSES)]

CUT_SECONDS = 40.0
# Beyond the lease, a worker may need so long to notice, and to ask the server.
MORE_SECONDS = 10.0


def test_a_worker_whose_link_is_cut_writes_nothing_afterward(cluster, tally):
    """Another one takes over, in time; when the link is back, the first one starts over."""
    name = tally.name_for("cut")
    under_way = fetch(cluster, name)
    cut_off = next(under_way)
    began_at = time.time()
    with cut_off.host.cut_off():
        requests = until(
            lambda: [each for each in cluster.requests_for(name) if each[0] > began_at]
        )
        assert requests[0][0] - began_at < LEASE.total_seconds() + MORE_SECONDS
        assert requests[0][1] != cut_off.host.name
        pause_until(began_at + CUT_SECONDS)
    assert cut_off.output.saw("other workers declared this one dead", 60), cut_off.log
    finish(under_way)
    assert "Traceback" not in cut_off.log
    # It takes new work again.
    other = fetch(cluster, tally.name_for("again"))
    next(other)
    finish(other)


def pause_until(at: float) -> None:
    until(lambda: time.time() >= at)


@pytest.mark.parametrize("by", ["+1h", "-1h"])
def test_a_worker_whose_clock_is_an_hour_off_neither_takes_nor_loses_anything(
    cluster, tally, tmp_path, by
):
    """The store refuses this machine, so its transfers wait; other machines continue."""
    library = program("faketime") and next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    clock = tmp_path / "clock"
    clock.write_text("+0")
    (first, *others) = cluster.workers
    first.stop()
    usual = first.environment
    first.environment = usual | {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    try:
        first.again()
        names = [tally.name_for("clock") for _each in range(2)]
        own, theirs = (fetch(cluster, name) for name in names)
        for each in others:
            each.stop()
        assert next(own) is first
        clock.write_text(by)
        assert first.output.saw("the object store doesn't answer", 60), first.log
        for each in others:
            each.again()
        assert next(theirs) is not first
        finish(theirs)
        clock.write_text("+0")
        finish(own)
        assert [len(cluster.requests_for(name)) for name in names] == [1, 1]
    finally:
        first.stop()
        first.environment = usual
        first.again()


def finish(under_way):
    for _more in under_way:
        pass


def test_a_full_disk_holds_a_transfer_back_and_loses_nothing(cluster, tally):
    name = tally.name_for("full")
    url = sources.url_of(name, FETCH_BYTES)
    with full_disks(cluster):
        transfer_id = say(cluster, "/rest/transfer/url", {"url": url})["id"]
        until(
            lambda: (
                ask(cluster, f"/rest/transfer/{transfer_id}").json()["reason"]
                in ("disk_full", "not_enough_space")
            )
        )
        # Uploads don't need the disk.
        content = sources.content_of("upload on full disks", 5_000_000)
        with cluster.webs[0].client() as client:
            files = {"file": ("upload on full disks", content)}
            assert client.post("/rest/transfer/file", files=files).is_success
        check_once(cluster, "upload on full disks", content)
    until_done(cluster, transfer_id)
    check_once(cluster, name, sources.content_of(name, FETCH_BYTES))


@contextmanager
def full_disks(cluster):
    """Fill the disk of every machine, which only its own processes see."""
    fillers = []
    for machine in cluster.machines:
        root = Path(f"/proc/{machine.host.pids()[0]}/root")
        filler = root / machine.environment["DATA_DIR"].lstrip("/") / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(2**20))
            except OSError:
                fillers.append(filler)
    try:
        yield
    finally:
        for filler in fillers:
            filler.unlink()
