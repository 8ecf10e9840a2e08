"""Playing a film elsewhere: the link on the page, and a player that has only this link."""

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations
from tests.browser.shelf import Folder, Shelf

pytestmark = pytest.mark.browser("The menu and the dialog of a row")
CONTEXT = "kept"
FILM = b"a film, as far as anybody can tell"


@pytest.fixture
def season(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "Episode 1.mkv", FILM)
    shelf.file(folder, "notes.txt", b"notes")
    return folder


def open_menu(page: Page, name: str) -> None:
    page.get_by_role("button", name=f"Actions for {name}").click()


@pytest.mark.journey
def test_a_link_from_the_menu_plays_without_a_cookie(alice, ferry, season):
    page = alice.page
    alice.open(season.path)
    open_menu(page, "Episode 1.mkv")
    page.locator("#entry-menu").get_by_text("Play on another device").click()
    dialog = page.get_by_role("dialog", name="Play Episode 1.mkv on another device")
    expect(dialog.locator("svg.qr")).to_be_visible()
    assert violations(page) == []
    link = dialog.locator(".pairing input").first.input_value()
    here = re.sub("//[^/]+", f"//localhost:{ferry.port}", link)
    answer = httpx.get(here, follow_redirects=True, timeout=60)
    assert answer.content == FILM
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    assert link.split("/")[4] not in ferry.log


def test_files_that_do_not_play_have_no_player_link(alice, season):
    page = alice.page
    alice.open(season.path)
    open_menu(page, "notes.txt")
    expect(page.locator("#entry-menu").get_by_text("Download", exact=True)).to_be_visible()
    expect(page.locator("#entry-menu").get_by_text("Play on another device")).to_be_hidden()


@pytest.mark.browser("Accessibility")
def test_the_page_passes_axe(alice, season):
    page = alice.page
    alice.open(f"{season.path}link/")
    assert violations(page) == []
    page.get_by_role("button", name="Create link").click()
    expect(page.locator("svg.qr").first).to_be_visible()
    assert violations(page) == []
