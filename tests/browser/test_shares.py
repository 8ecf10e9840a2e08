"""Playing a film elsewhere: the link on the page, and a player that knows nothing else."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.running import Ferry

FILM = b"a film, as far as anybody can tell"


@pytest.fixture(scope="module")
def shelf(ferry: Ferry) -> Iterator[Shelf]:
    shelf = Shelf(ferry)
    yield shelf
    shelf.close()


@pytest.fixture
def season(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "Episode 1.mkv", FILM)
    shelf.file(folder, "notes.txt", b"notes")
    return folder


def signed_in(page: Page, ferry: Ferry) -> Visitor:
    visitor = Visitor(page, ferry.url, ferry)
    visitor.sign_in()
    return visitor


def open_menu(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Actions for {name}").click()


def test_a_link_from_the_menu_plays_without_a_cookie(page, ferry, season):
    signed_in(page, ferry).open(season.path)
    open_menu(page, "Episode 1.mkv")
    page.locator("#entry-menu").get_by_text("Play elsewhere").click()
    dialog = page.get_by_role("dialog", name="Play Episode 1.mkv elsewhere")
    expect(dialog.locator("svg.qr")).to_be_visible()
    assert violations(page) == []
    link = dialog.locator(".pairing input").first.input_value()
    answer = httpx.get(re.sub("//[^/]+", f"//localhost:{ferry.port}", link), follow_redirects=True)
    assert answer.content == FILM
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    assert link.split("/")[4] not in ferry.log


def test_what_plays_nowhere_has_no_such_link(page, ferry, season):
    signed_in(page, ferry).open(season.path)
    open_menu(page, "notes.txt")
    expect(page.locator("#entry-menu").get_by_text("Download", exact=True)).to_be_visible()
    expect(page.locator("#entry-menu").get_by_text("Play elsewhere")).to_be_hidden()


@pytest.mark.parametrize("width", [390, 1440])
def test_without_scripts_it_is_a_page(chromium: Browser, ferry, season, width):
    size = {"width": width, "height": 844}
    with chromium.new_context(viewport=size, java_script_enabled=False) as context:
        page = context.new_page()
        signed_in(page, ferry).open(f"{season.path}link/")
        page.get_by_role("button", name="Make a link").click()
        link = page.locator(".pairing input").first.input_value()
        assert re.search(r"/s/[\w-]{43}/playlist/Journey%20\w+\.m3u$", link)
        name = page.get_by_role("link", name="Open in this device's player")
        with page.expect_download() as download:
            name.click()
        assert download.value.suggested_filename.endswith(".m3u")
        page.goto(f"{ferry.url}/account/#shares")
        page.locator("#shares").get_by_role("button", name="Take back").first.click()
        expect(page.get_by_text("Link taken back")).to_be_visible()


def test_the_page_passes_axe(page, ferry, season):
    signed_in(page, ferry).open(f"{season.path}link/")
    assert violations(page) == []
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("svg.qr").first).to_be_visible()
    assert violations(page) == []
