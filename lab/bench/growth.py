"""How much longer ten times the work takes, and so how costs grow."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import httpx
from django.db.models import F
from django.utils import timezone

from config.embedded import upstream
from host import preparation
from lab.bench import library
from lab.bench.archives import one_byte
from lab.bench.browser import make_owner, signed_in
from lab.bench.harness import ROUNDS, Row, seconds
from lab.bench.transfers import recorded
from service.content import archive_plans
from service.library import bulk_insert
from service.library.bulk_insert import NewFile
from service.models import Account, Transfer
from tests.serving import Server, serving

ENTRIES = (1_000, 10_000, 100_000)
RECORDED = (200, 2_000, 20_000)
# Ten times the work may take ten times as long, plus a little for the cost of memory.
LINEAR = 13

Ask = Callable[[], object]


def rows(_home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    owner = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    folders = {count: folder_of(owner, count) for count in ENTRIES}
    library.swept()
    with serving(WEB_PROCESSES=str(os.cpu_count()), WEB_THREADS="32") as server:
        browser = signed_in(server.url)
        for folder in folders.values():
            browser.page(f"/files/{folder}/")
        pages = {n: lambda at=f"/files/{key}/": browser.page(at) for n, key in folders.items()}
        yield from grown("page of a visited folder of {:,}", pages, at_most=LINEAR)
        zips = {n: lambda key=key: link_to_byte(server, owner, key) for n, key in folders.items()}
        yield from grown("ZIP of {:,} entries, link to first byte", zips, at_most=LINEAR)
    yield from over_v1(owner, folders)


def over_v1(owner: Account, folders: dict[int, str]) -> Iterator[Row]:
    auth = upstream.credentials()
    with (
        serving(WEB_PROCESSES="1", WEB_THREADS="8") as server,
        httpx.Client(base_url=server.url, auth=auth, trust_env=False, timeout=60) as v1,
    ):
        listings = {n: lambda key=key: listing(v1, owner, key) for n, key in folders.items()}
        yield from grown("listing of {:,} entries", listings, at_most=LINEAR)
        many = {n: lambda n=n: listed(v1, owner, n) for n in RECORDED}
        yield from grown("{:,} recorded transfers listed", many, at_most=LINEAR)


def grown(name: str, asks: dict[int, Ask], at_most: float) -> Iterator[Row]:
    taken = {count: milliseconds(ask) for count, ask in asks.items()}
    for small, large in zip(taken, [*taken][1:], strict=False):
        raw = {f"ms at {count:,}": taken[count] for count in (small, large)}
        ratio = median(taken[large]) / median(taken[small])
        words = f"{name.format(large)}, of {small:,}'s"
        yield Row(words, ratio, " times", at_most=at_most, raw=raw)


def milliseconds(ask: Ask) -> Sequence[float]:
    ask()
    return [1000 * seconds(ask) for _ in range(ROUNDS)]


def folder_of(owner: Account, count: int) -> str:
    files = [NewFile((f"File {number}.txt",), library.blob(1)) for number in range(count)]
    return str(bulk_insert.insert_tree(owner, 0, f"{count} files", files, timezone.now()).folder.pk)


def link_to_byte(server: Server, owner: Account, folder: str) -> None:
    """Request an archive under a new name, which means a new plan."""
    link_to_byte.count += 1
    name = f"Growth {link_to_byte.count}"
    one_byte(
        server.url + archive_plans.create_link(owner, [int(folder)], [], name, now=timezone.now())
    )


link_to_byte.count = 0


def listing(v1: httpx.Client, owner: Account, folder: str) -> None:
    """List a folder after a change, since the service keeps what it has encoded."""
    Account.objects.filter(pk=owner.pk).update(library_revision=F("library_revision") + 1)
    v1.get(f"/rest/folder/{folder}").raise_for_status()


def listed(v1: httpx.Client, owner: Account, count: int) -> None:
    have, now = Transfer.objects.filter(account=owner).count(), timezone.now()
    Transfer.objects.bulk_create(recorded(owner, number, now) for number in range(have, count))
    assert len(v1.get("/rest/transfer").raise_for_status().json()["transfers"]) == count
