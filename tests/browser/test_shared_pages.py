"""Links to pages, from the menu of a row to the browser of a stranger."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import films
from tests.browser.axe import faults_of
from tests.browser.conftest import PHONE
from tests.browser.films import moves_on, watch
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.test_sending import drop
from tests.running import Ferry
from tests.service.media import samples

pytestmark = pytest.mark.browser("The scripts of Files run on pages below a link, for a stranger")
CONTEXT = "kept"
SERVICE_WORKERS = "block"
PASSWORD = "tern on a rope"


@pytest.fixture
def beach(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    for name in ("Dune.png", "Wave.png"):
        shelf.file(folder, name, samples.picture(kind="PNG"))
    shelf.file(folder, "Tide.mkv", films.copied().read_bytes())
    shelf.file(folder, "notes.txt", b"notes")
    return folder


@pytest.fixture
def stranger(
    chromium: Browser, ferry: Ferry, request: pytest.FixtureRequest
) -> Iterator[BrowserContext]:
    facts = PHONE if request.param == "phone" else {}
    with chromium.new_context(**facts, service_workers="block") as context:
        yield context


def at(*devices: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("stranger", devices, indirect=True)


@pytest.fixture
def guest(chromium: Browser) -> Iterator[Page]:
    """Return the page of a stranger, and check that it has no errors."""
    troubles: list[str] = []
    with chromium.new_context(service_workers="block") as context:
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        yield page
        assert troubles == []


def share(alice: Visitor, path: str, **terms: str) -> str:
    alice.open(path)
    return make(alice, **terms)


def make(alice: Visitor, **terms: str) -> str:
    """Fill in the form, and return the link, at an address of this machine."""
    page = alice.page
    if purpose := terms.pop("purpose", ""):
        page.get_by_text(purpose, exact=True).click()
    for label, value in terms.items():
        page.get_by_label(label.replace("_", " "), exact=True).fill(value)
    page.get_by_role("button", name="Create link").click()
    link = page.locator(".pairing input").first.input_value()
    return re.sub("//[^/]+", f"//localhost:{alice.ferry.port}", link)


@pytest.mark.browser("The menu of a row leads to the form")
@at(pytest.param("desk", marks=pytest.mark.journey), "phone")
def test_a_link_from_the_menu_opens_for_a_stranger(alice, beach, stranger):
    alice.open(beach.path)
    alice.page.get_by_role("button", name="Actions for Dune.png").click()
    alice.page.locator("#entry-menu").get_by_text("Share", exact=True).click()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("Share Dune.png")
    assert faults_of(alice.page) == []
    link = make(alice)
    page = stranger.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Dune.png")
    assert link.split("/")[4] not in alice.ferry.log


def test_a_selection_shows_only_that(alice, beach, guest):
    alice.open(beach.path)
    for name in ("Dune.png", "Wave.png"):
        alice.page.get_by_label(f"Select {name}").check()
    alice.page.get_by_role("button", name="Share", exact=True).click()
    expect(alice.page.get_by_role("heading", level=1)).to_have_text("Share 2 items")
    guest.goto(make(alice, Title="Two waves"))
    expect(guest.get_by_role("heading", level=1)).to_have_text("Two waves")
    expect(guest.locator("#listing a.entry")).to_have_count(2)
    guest.locator("#listing a.entry").first.click()
    expect(guest.locator("#viewer-name")).to_have_text("Dune.png")
    guest.keyboard.press("ArrowRight")
    expect(guest.locator("#viewer-name")).to_have_text("Wave.png")
    guest.keyboard.press("Escape")
    expect(guest.locator("#viewer-name")).to_have_count(0)


@pytest.mark.browser("Accessibility, and scripts that filter")
def test_the_page_passes_axe_and_filters_and_sorts(alice, beach, guest):
    guest.goto(share(alice, f"{beach.path}share/"))
    assert faults_of(guest) == []
    guest.set_viewport_size({"width": 320, "height": 640})
    assert faults_of(guest) == []
    guest.get_by_label("Filter this folder").fill("wave")
    expect(guest.locator("#listing a.entry")).to_have_count(1)
    guest.get_by_label("Filter this folder").fill("")
    expect(guest.locator("#listing a.entry")).to_have_count(4)
    guest.get_by_label("More actions for this folder").click()
    guest.locator("#folder-menu").get_by_text("Grid").click()
    expect(guest.locator("#listing .tile")).to_have_count(4)
    expect(guest.locator("#listing .tile img").first).to_be_visible()


@pytest.mark.browser("The player plays what the link lets it fetch")
def test_a_film_plays(alice, beach, chromium, ferry):
    link = share(alice, f"{beach.path}share/")
    with chromium.new_context(service_workers="block") as context:
        visitor = Visitor(context.new_page(), "", ferry)
        watch(visitor, link, "Tide.mkv")
        moves_on(visitor.page)
        expect(visitor.page.get_by_text("Mark as watched")).to_have_count(0)


@pytest.mark.browser("Checked rows become a download of the browser")
def test_a_selection_downloads_as_a_zip(alice, beach, guest):
    guest.goto(share(alice, f"{beach.path}share/"))
    guest.get_by_label("Select notes.txt").check()
    guest.get_by_label("Select Dune.png").check()
    with guest.expect_download() as download:
        guest.get_by_role("button", name="Download ZIP").click()
    assert download.value.suggested_filename.endswith(".zip")
    with guest.expect_download() as download:
        guest.get_by_role("link", name="Download all").click()
    assert download.value.suggested_filename == f"{beach.name}.zip"


@pytest.mark.browser("The browser sends the cookie of a link to its own pages only")
@at("desk")
def test_a_password_protects_the_page(alice, beach, stranger):
    link = share(alice, f"{beach.path}share/", Password=PASSWORD)
    page = stranger.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text("Shared with you")
    expect(page.get_by_text("Dune")).to_have_count(0)
    for guess in ("a guess", PASSWORD):
        page.get_by_label("Password").fill(guess)
        page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(beach.name)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(beach.name)


@pytest.mark.browser("The script sends file after file")
@at("desk", pytest.param("phone", marks=pytest.mark.journey))
def test_a_stranger_sends_files(alice, shelf, stranger, tmp_path):
    folder = shelf.folder()
    link = share(alice, f"{folder.path}share/", purpose="Send files")
    page = stranger.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Send files to “{folder.name}”")
    paths = [tmp_path / f"photo {number}.jpg" for number in range(3)]
    for path in paths:
        path.write_bytes(b"x" * 100_000)
    page.get_by_label("Files").set_input_files(paths)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status").get_by_text("3 files sent. Thank you.")).to_be_visible()
    drop(page, "A drop.txt", b"hello")
    expect(page.get_by_role("status").get_by_text("4 files sent. Thank you.")).to_be_visible()
    assert set(page.locator("#sent li").all_text_contents()) == set(shelf.names(folder))
    assert sorted(shelf.names(folder)) == ["A drop.txt", *[path.name for path in paths]]


@pytest.mark.browser("Layout while a file is on its way")
def test_files_on_their_way_fit_the_narrow_page(alice, shelf, guest, tmp_path):
    guest.set_viewport_size({"width": 1440, "height": 900})
    guest.goto(share(alice, f"{shelf.folder().path}share/", purpose="Send files"))
    session = guest.context.new_cdp_session(guest)
    session.send("Network.enable")
    rates = {"downloadThroughput": -1, "uploadThroughput": 100_000}
    session.send("Network.emulateNetworkConditions", {"offline": False, "latency": 0, **rates})
    path = tmp_path / "A film with a long name that goes on.mkv"
    path.write_bytes(b"x" * 1_000_000)
    guest.get_by_label("Files").set_input_files(path)
    guest.get_by_role("button", name="Send").click()
    name, panel = (
        guest.locator(each).bounding_box() for each in (".transfer-name", "#sending-files")
    )
    assert name["width"] > panel["width"] / 2
    expect(guest.get_by_text("1 file sent")).to_be_visible(timeout=60_000)


@pytest.mark.browser("Accessibility")
def test_the_pages_around_it_pass_axe(alice, beach, guest):
    alice.open(f"{beach.path}share/")
    assert faults_of(alice.page) == []
    link = make(alice, Password=PASSWORD)
    assert faults_of(alice.page) == []
    guest.goto(link)
    assert faults_of(guest) == []
    guest.goto(share(alice, f"{beach.path}share/", purpose="Send files"))
    assert faults_of(guest) == []
    guest.goto(f"{link[:-5]}/")
    expect(guest.get_by_role("heading", level=1)).to_have_text("This link doesn't work")
    assert faults_of(guest) == []
