"""The Files page of 10,000 entries, signed in and in the whole program, beside copyparty's."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

import httpx
from django.http import HttpRequest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import sync_playwright

from common.host import host, run_on
from config.embedded import upstream
from host import preparation
from lab.bench import library
from lab.bench.archives import copyparty
from lab.bench.browser import Browser, make_owner, signed_in
from lab.bench.harness import ROUNDS, Row, in_turns, peer, running_peer
from service.library import bulk_insert
from service.library.bulk_insert import NewFile
from service.models import Account
from tests.browser.chromium import ARGUMENTS
from tests.browser.loading import first_loaded, weight
from tests.serving import serving

COUNT = 10_000
NAMES = [f"IMG_{number:05} by the sea.jpg" for number in range(COUNT)]
calls: list[str] = []


def rows(home: Path) -> Iterator[Row]:
    preparation.prepare()
    make_owner()
    owner = Account.objects.get(email=upstream.EMBEDDED_ACCOUNT)
    # One more for the round that warms up: a process caches each folder that it has parsed.
    unseen = [page_of_new_folder(owner, number) for number in range(ROUNDS + 3)]
    with serving() as server:
        ferry = signed_in(server.url)
        visited, counted = unseen.pop(), unseen.pop()
        for _ in range(8):
            ferry.page(visited)
        yield from beside_copyparty(ferry, unseen, visited, home / "pages")
        yield from weights(ferry, visited)
    yield from counts(counted)


def page_of_new_folder(owner: Account, number: int) -> str:
    files = [NewFile((name,), library.blob(1)) for name in NAMES]
    folder = bulk_insert.insert_tree(
        owner, 0, f"{COUNT} pictures, {number}", files, timezone.now()
    ).folder
    return f"/files/{folder.pk}/"


def beside_copyparty(ferry: Browser, unseen: list[str], visited: str, twin: Path) -> Iterator[Row]:
    """Compare with what copyparty sends to a browser: the page of the folder, with all rows (as
    HTML at the first visit, as JSON for its script once the script has set a cookie). The quicker
    of the two counts. No request asks for compression, which would only slow copyparty down.
    Ferry's page contains the first 100 rows of a folder that no one has opened, and loads more
    on demand."""
    contestants = {
        "ferry, cold": lambda: ferry.page(unseen.pop()),
        "ferry, visited": lambda: ferry.page(visited),
    }
    program = peer("copyparty")
    if program is None:
        taken = in_turns(**contestants)
        yield Row("Files page of 10,000, cold, of copyparty's", None, missing="copyparty")
    else:
        plain_files(twin / "pictures")
        with running_peer(*copyparty(program, twin)) as url:
            party = Browser(url)
            variants = {"as HTML": {}, "as JSON": {"Cookie": "js=y"}}
            for headers in variants.values():
                assert NAMES[-1].encode() in party.page("/pictures/", **headers)
            contestants |= {
                f"copyparty, {way}": lambda headers=headers: party.page("/pictures/", **headers)
                for way, headers in variants.items()
            }
            taken = in_turns(**contestants)
        best = min(median(taken[f"copyparty, {way}"]) for way in variants)
        cold, cached = (median(taken[f"ferry, {how}"]) / best for how in ("cold", "visited"))
        yield Row(
            "Files page of 10,000, cold, of copyparty's",
            cold,
            at_most=0.5,
            relative="time",
            raw=taken,
        )
        yield Row(
            "Files page of 10,000, visited, of copyparty's", cached, at_most=0.25, relative="time"
        )
    name, seen = "a visited folder of 10,000", [1000 * each for each in taken["ferry, visited"]]
    yield Row(name, median(seen), " ms", under=50, raw={"visited": seen})


def plain_files(folder: Path) -> None:
    folder.mkdir(parents=True)
    for name in NAMES:
        (folder / name).write_bytes(b"x")


def weights(ferry: Browser, page: str) -> Iterator[Row]:
    name, program = "HTML, CSS and JS first loaded, compressed", peer("chromium")
    if program is None:
        yield Row(name, None, missing="chromium")
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        sizes = first_loaded(chromium, ferry.url + page, ferry.state)
        chromium.close()
    kinds = {f"{kind}, KB": [size / 1000] for kind, size in sizes.items() if kind != "answers"}
    yield Row(name, weight(sizes) / 1000, " KB", under=60, raw=kinds)
    yield Row("in so many answers, icons counted", sizes["answers"])


def counts(page: str) -> Iterator[Row]:
    """Serve the page in this process, where the calls can be counted."""
    embedded = replace(host().embedded, transport=Counting)
    counted = replace(host(), embedded=embedded)
    run_on(lambda: counted)
    browser = Client(headers={"host": "localhost"})
    browser.force_login(make_owner())
    for visit in ("the first visit", "the second"):
        calls.clear()
        assert browser.get(page).status_code == 200
        yield Row(f"v1 calls for {visit}", len(calls), at_most=1)


class Counting(httpx.BaseTransport):
    def __init__(self, request: HttpRequest | None) -> None:
        self._inside = upstream.transport(request)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        calls.append(f"{request.method} {request.url.path}")
        return self._inside.handle_request(request)
