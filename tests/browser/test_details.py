"""The details of a transfer: the whole program with its worker, a peer, and a tracker."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.people import Visitor
from tests.browser.test_choosing import add, row
from tests.browser.waiting import PATIENCE_MS
from tests.running import Ferry, running
from tests.swarm import Answering, bencode, seeder, serving_http, torrent

pytestmark = pytest.mark.browser("The dialog refreshes itself while it is open, and only then")
CONTEXT = "kept"
FILM = torrent("Film", {("film.mkv",): b"film" * 1_000_000, ("notes.txt",): b"x" * 100})
REFUSAL = bencode({"failure reason": "banned <b>for ever</b>"})


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    with running(tmp_path_factory.mktemp("ferry"), WEB_PROCESSES="1") as program:
        program.make_owner()
        yield program


@pytest.fixture(scope="module")
def link(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield a magnet link of a torrent that takes minutes, with a tracker that refuses it."""
    with seeder(upload_rate_limit=16 * 1024) as peer, serving_http(Answering(body=REFUSAL)) as no:
        peer.give(FILM, tmp_path_factory.mktemp("given"))
        yield FILM.magnet(peer=peer.address, trackers=[no.announce])


def open_details(visitor: Visitor, link: str) -> Locator:
    page = visitor.page
    visitor.open("/transfers/")
    if not row(page, FILM.name).count():
        add(page, link)
        page.locator("#choose-files").get_by_role("button", name="Download chosen files").click()
    name = row(page, FILM.name).get_by_role("link", name=FILM.name, exact=True)
    expect(name).to_be_visible(timeout=PATIENCE_MS)
    name.click()
    return page.locator("#transfer-details")


def requests(page: Page) -> list[str]:
    seen: list[str] = []
    page.on(
        "request", lambda request: seen.append(request.url) if "?facts" in request.url else None
    )
    return seen


def test_the_dialog_shows_the_swarm_and_refreshes_until_it_is_closed(
    alice: Visitor, link: str
) -> None:
    page = alice.page
    details = open_details(alice, link)
    expect(details).to_contain_text("banned <b>for ever</b>", timeout=PATIENCE_MS)
    peers = details.locator("section").filter(has_text="Peers")
    expect(peers).to_contain_text("127.0.0.1", timeout=PATIENCE_MS)
    expect(peers).to_contain_text("libtorrent/")
    text = details.locator("section").filter(has_text="Pieces").locator("p")
    before = text.text_content() or ""
    expect(text).not_to_have_text(before, timeout=PATIENCE_MS)
    assert faults_at(page, 390, 1440) == []
    page.keyboard.press("Escape")
    expect(page.locator("#details-facts")).to_have_count(0)
    seen = requests(page)
    with page.expect_response(re.compile("/transfers/list/")):
        pass
    with page.expect_response(re.compile("/transfers/list/")):
        pass
    assert seen == []


def test_its_page_works_without_scripts(scriptless: Visitor, link: str, tmp_path: Path) -> None:
    scriptless.open("/transfers/")
    row(scriptless.page, FILM.name).get_by_role("link", name=FILM.name, exact=True).click()
    expect(scriptless.page.locator("main h2")).to_have_text(FILM.name)
    scriptless.page.get_by_role("link", name="Refresh").click()
    expect(scriptless.page.locator("main")).to_contain_text("History")
