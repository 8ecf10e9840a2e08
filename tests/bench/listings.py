"""Listings: one of 10,000 entries, the same again, and many small ones at once."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import httpx
from django.utils import timezone

from service import planting
from service.models import Account
from service.planting import Planted
from tests.bench import library
from tests.bench.harness import ROUNDS, Row, seconds
from tests.serving import serving

LARGE, SMALL = 10_000, 20
READERS = 8
CALLS = 250  # of each reader


def rows(_home: Path) -> Iterator[Row]:
    owner = library.account("listings@example.org")
    large, small = (folder_of(owner, count) for count in (LARGE, SMALL))
    with serving(WEB_PROCESSES=str(os.cpu_count()), WEB_THREADS="128") as server:
        auth = (owner.email, library.PASSWORD)
        with httpx.Client(base_url=server.url, auth=auth, trust_env=False) as v1:
            etag = v1.get(large).raise_for_status().headers["ETag"]
            again = {"If-None-Match": etag}
            whole = [seconds(lambda: v1.get(large)) * 1000 for _ in range(ROUNDS)]
            unchanged = [
                seconds(lambda: v1.get(large, headers=again)) * 1000 for _ in range(ROUNDS)
            ]
            assert v1.get(large, headers=again).status_code == 304
        yield Row(
            "listing of 10,000 entries", median(whole), " ms", under=150, raw={"whole": whole}
        )
        yield Row(
            "the same, unchanged", median(unchanged), " ms", under=10, raw={"unchanged": unchanged}
        )
        rates = [rate(server.url, small, auth) for _ in range(ROUNDS)]
        yield Row(
            "listings of 20 entries a second",
            median(rates),
            "/s",
            at_least=500,
            raw={"rate": rates},
        )


def folder_of(owner: Account, count: int) -> str:
    files = [Planted((f"Film {n}.mkv",), library.blob(1)) for n in range(count)]
    folder = planting.plant(owner, 0, f"{count} films", files, timezone.now())
    return f"/rest/folder/{folder.pk}"


def rate(url: str, path: str, auth: tuple[str, str]) -> float:
    """wrk would be a lighter client, but what counts here is both together on one machine."""

    def read() -> None:
        with httpx.Client(base_url=url, auth=auth, trust_env=False) as v1:
            for _ in range(CALLS):
                v1.get(path).raise_for_status()

    def all_read() -> None:
        with ThreadPoolExecutor(READERS) as pool:
            for done in [pool.submit(read) for _ in range(READERS)]:
                done.result()

    return READERS * CALLS / seconds(all_read)
