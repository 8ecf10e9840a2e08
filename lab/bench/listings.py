"""Listings: 10,000 entries for the first time, the same again, and many small ones."""

import os
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import httpx
from django.utils import timezone

from lab.bench import library
from lab.bench.harness import ROUNDS, Row, peer, seconds
from service.library import bulk_insert
from service.library.bulk_insert import NewFile
from service.models import Account
from tests.serving import serving

LARGE, SMALL = 10_000, 20
READERS = 8


def rows(_home: Path) -> Iterator[Row]:
    owner = library.account("listings@example.org")
    # One more to warm up: the service keeps what it has encoded.
    unseen, small = [folder_of(owner, LARGE, n) for n in range(ROUNDS + 1)], folder_of(owner, SMALL)
    with serving(WEB_PROCESSES=str(os.cpu_count()), WEB_THREADS="128") as server:
        auth = (owner.email, library.PASSWORD)
        with httpx.Client(base_url=server.url, auth=auth, trust_env=False) as v1:
            large = unseen.pop()
            etag = v1.get(large).raise_for_status().headers["ETag"]
            again = {"If-None-Match": etag}
            whole = [seconds(lambda: v1.get(unseen.pop())) * 1000 for _ in range(ROUNDS)]
            unchanged = [
                seconds(lambda: v1.get(large, headers=again)) * 1000 for _ in range(ROUNDS)
            ]
            assert v1.get(large, headers=again).status_code == 304
        yield Row("listing of 10,000 entries", median(whole), " ms", under=50, raw={"whole": whole})
        yield Row(
            "the same, unchanged", median(unchanged), " ms", under=10, raw={"unchanged": unchanged}
        )
        name, program = "listings of 20 entries a second", peer("wrk")
        if program is None:
            yield Row(name, None, missing="wrk")
            return
        rates = [rate(program, server.url + small, auth) for _ in range(ROUNDS)]
        yield Row(name, median(rates), "/s", at_least=1500, raw={"rate": rates})


def folder_of(owner: Account, count: int, number: int = 0) -> str:
    files = [NewFile((f"Film {n}.mkv",), library.blob(1)) for n in range(count)]
    name, now = f"{count} films, {number}", timezone.now()
    folder = bulk_insert.insert_tree(owner, 0, name, files, now).folder
    return f"/rest/folder/{folder.pk}"


def rate(program: str, url: str, auth: tuple[str, str]) -> float:
    """Measure with wrk, since a client in Python would use half of the machine itself."""
    key = b64encode(":".join(auth).encode()).decode()
    wrk = [program, "-t1", f"-c{READERS}", "-d2s", "-H", f"Authorization: Basic {key}", url]
    output = subprocess.run(wrk, check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in output, output
    return float(re.search(r"Requests/sec:\s*([\d.]+)", output)[1])
