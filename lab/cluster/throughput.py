"""How much the cluster does, and how the number of its machines changes that.

All machines share the cores of this one, so more of them can't be faster than its cores allow; what
the table shows is what each machine costs the others.
"""

import re
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import httpx

from lab.bench.harness import peer
from tests.cluster import sources
from tests.cluster.machines import EMAIL, Cluster, Machine, cluster
from tests.cluster.operations import ask, put, say, until_done
from tests.running import PASSWORD

SIZES = ((1, 1), (2, 1), (3, 1), (1, 3), (3, 3))
ENTRIES, READERS, ROUNDS = 20, 8, 3
LARGE_BYTES = 64 * 2**20
FETCHES, FETCHED_BYTES = 6, 12_000_000
MEBIBYTE = 2**20


def rows() -> Iterator[dict[str, float]]:
    for webs, workers in SIZES:
        with cluster(webs, workers) as made:
            yield {"web machines": webs, "workers": workers, **measured(made)}


def measured(made: Cluster) -> dict[str, float]:
    for number in range(ENTRIES):
        put(made, f"{number}.bin", b"small")
    large = sources.content_of("large", LARGE_BYTES)
    began_at = time.monotonic()
    file_id = put(made, "large.bin", large)
    upload_seconds = time.monotonic() - began_at
    return {
        "listings of 20 a second": median(listings(made) for _ in range(ROUNDS)),
        "MiB/s uploaded": LARGE_BYTES / MEBIBYTE / upload_seconds,
        "MiB/s downloaded": median(downloads(made, file_id) for _ in range(ROUNDS)),
        "s for 6 fetches of 12 MB": fetches(made),
    }


def listings(made: Cluster) -> float:
    """Measure with wrk, one for each machine, all at once."""
    key = b64encode(f"{EMAIL}:{PASSWORD}".encode()).decode()
    program = peer("wrk")
    assert program, "the benchmark needs wrk"

    def rate(web: Machine) -> float:
        readers = max(1, READERS // len(made.webs))
        wrk = [program, "-t1", f"-c{readers}", "-d3s", "-H", f"Authorization: Basic {key}"]
        output = subprocess.run(
            [*wrk, f"{web.url}/rest/folder"], check=True, capture_output=True, text=True
        ).stdout
        assert "Non-2xx" not in output, output
        found = re.search(r"Requests/sec:\s*([\d.]+)", output)
        assert found, output
        return float(found[1])

    with ThreadPoolExecutor(len(made.webs)) as pool:
        return sum(pool.map(rate, made.webs))


def downloads(made: Cluster, file_id: int) -> float:
    """Download a large file from every machine at once, and return MiB/s of all together."""
    link = ask(made, f"/rest/file/{file_id}").headers["Location"]
    path = httpx.URL(link).raw_path.decode()

    def read(web: Machine) -> int:
        with web.client() as client, client.stream("GET", path) as answer:
            return sum(len(piece) for piece in answer.iter_raw(2**20))

    began_at = time.monotonic()
    with ThreadPoolExecutor(len(made.webs)) as pool:
        total = sum(pool.map(read, made.webs))
    return total / MEBIBYTE / (time.monotonic() - began_at)


def fetches(made: Cluster) -> float:
    began_at = time.monotonic()
    ids = [
        say(made, "/rest/transfer/url", {"url": sources.url_of(f"fetched{n}", FETCHED_BYTES)})["id"]
        for n in range(FETCHES)
    ]
    for transfer_id in ids:
        until_done(made, transfer_id)
    return time.monotonic() - began_at
