"""Every page on a phone: no errors or layout shifts, light, narrow, readable, and easy to tap."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState

from tests.browser.addresses import PAGES
from tests.browser.axe import too_wide, violations_in_both_schemes
from tests.browser.conftest import EXPECTED, PHONE
from tests.browser.loading import loaded, weight
from tests.browser.people import Visitor, forgive
from tests.browser.shelf import Shelf
from tests.browser.spilling import spilling
from tests.browser.targets import nameless, too_small, zooming
from tests.running import Ferry

pytestmark = pytest.mark.browser(
    "Only a rendered page has a layout, a weight, and a console, and can be read by axe."
)
MOST_BYTES = 60_000
MOST_SHEETS = 3
MOST_SHIFT = 0.05
LONG = "A.name.without.a.single.place.to.break.it." + "x" * 60 + ".bin"

# Pages that only a form leads to, without scripts -> the page with the form, and the form.
ANSWERS = {
    "a code for a camera": ("/account/", "form[action$='/account/pair/']"),
    "a code to be typed": ("/pair/", "main form"),
    "a code that nobody shows": ("/account/pair/code/", "main form"),
    "an invitation": ("/account/people/invite/", "main form"),
    "a new token": ("/account/", "form[action$='/account/tokens/']"),
    "a password that is refused": ("/account/", "form[action$='/account/password/']"),
    "a link for other players": ("{folder}link/", "main form"),
    "a link to a page": ("{folder}share/", "main form"),
    "a folder without a name": ("{folder}new/", "main form"),
    "what was added": (PAGES["add-asked"], "main form"),
    "nothing to add": ("/add/", "#send"),
    "no transfers to cancel": ("/transfers/", "#entries"),
    "a sign-in that is refused": ("/signin/?switch", "main form"),
}
# Journeys: a listing, a page that polls, a preview, and the answer to a form.
CHOSEN = {"files-folder", "transfers", "preview"}
WATCH = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def marked(names: Iterable[str]) -> list[object]:
    """Return the names as parameters; the chosen ones are journeys."""
    journey = pytest.mark.journey
    return [pytest.param(name, marks=[journey] if name in CHOSEN else []) for name in names]


@dataclass(frozen=True)
class House:
    url: str
    state: StorageState
    names: dict[str, str]

    def address(self, path: str) -> str:
        return self.url + path.format(**self.names)


@pytest.fixture(scope="module")
def house(chromium: Browser, ferry: Ferry) -> House:
    """Make content for each page; the phone uses plain HTTP, as most phones will."""
    forgive(ferry)
    shelf = Shelf(ferry)
    empty_transfers(shelf)
    folder = shelf.films()
    shelf.file(folder, LONG, b"long")
    shelf.file(shelf.folder(LONG), LONG, bytes(3_000_000))
    file, text = shelf.file_named(folder, "Clouds.mkv"), shelf.file_named(folder, "Elms.txt")
    shelf.close()
    with chromium.new_context() as context:
        visitor = Visitor(context.new_page(), f"http://phone.lan:{ferry.port}", ferry)
        visitor.sign_in()
        visitor.open("/account/server/")
        person = visitor.page.locator("#people a.btn").first.get_attribute("href")
        visitor.open(f"{folder.path}share/")
        visitor.page.get_by_label("Title").fill(LONG[:60])
        visitor.page.get_by_label("Password").fill("tern on a rope")
        visitor.page.get_by_role("button", name="Create link").click()
        visitor.open("/account/")
        link = visitor.page.locator("#shares .rows a").first.get_attribute("href")
        names = {"folder": folder.path, "file": file, "text": text}
        names |= {"person": person.split("/")[-2], "link": link.split("/")[-2]}
        return House(visitor.url, context.storage_state(), names)


@pytest.fixture(scope="module")
def phone(chromium: Browser, house: House) -> Iterator[BrowserContext]:
    with chromium.new_context(storage_state=house.state, **PHONE) as context:
        context.add_init_script(WATCH)
        yield context


@pytest.fixture
def page(phone: BrowserContext, house: House) -> Iterator[Page]:
    """Yield a page; first reset the cookies, since some answers to forms set some."""
    phone.clear_cookies()
    phone.add_cookies(house.state["cookies"])
    with phone.new_page() as page:
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        yield page


@pytest.fixture
def troubles(page: Page) -> list[str]:
    """Return the errors on the page's console, except expected ones."""
    troubles: list[str] = []

    def note(words: str) -> None:
        if not EXPECTED.search(words):
            troubles.append(words)

    page.on("pageerror", lambda error: note(str(error)))
    page.on("console", lambda line: note(line.text) if line.type == "error" else None)
    return troubles


@pytest.mark.parametrize("name", marked(PAGES))
def test_a_page_is_light_quiet_steady_readable_and_large_enough(name, page, troubles, house):
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    sizes = loaded(page, house.address(PAGES[name]))
    assert faults_of(page) == {}
    assert troubles == []
    assert weight(sizes) < MOST_BYTES, sizes
    assert page.locator("link[rel=stylesheet]").count() <= MOST_SHEETS


def empty_transfers(shelf: Shelf) -> None:
    """Remove what earlier tests added: rows weigh something, too."""
    shelf.post("/transfers/cancel/", {"all": "1", "confirmed": "1"})
    shelf.post("/transfers/clear/")


def test_forty_rows_of_transfers_are_light_too(page, house, shelf):
    links = [f"magnet:?xt=urn:btih:{number:040x}&dn=Film+{number}" for number in range(1, 41)]
    for some in (links[:25], links[25:]):
        shelf.post("/transfers/send/", {"text": "\n".join(some)})
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")
    sizes = loaded(page, house.address("/transfers/"))
    count = page.locator("#groups .transfer").count()
    empty_transfers(shelf)
    assert count == 40
    assert weight(sizes) < MOST_BYTES, sizes


@pytest.mark.parametrize("name", marked(ANSWERS))
def test_the_answer_to_a_form_is_so_too(name, page, troubles, house):
    path, form = ANSWERS[name]
    page.goto(house.address(path))
    page.wait_for_load_state("networkidle")
    with page.expect_navigation():
        page.locator(form).first.evaluate("(form) => HTMLFormElement.prototype.submit.call(form)")
    page.wait_for_load_state("networkidle")
    assert faults_of(page) == {}
    assert troubles == []


def faults_of(page: Page) -> dict[str, object]:
    """Return the faults of a page that has finished loading, by kind."""
    headings = page.get_by_role("heading", level=1).count()
    shifted = page.evaluate("window.shifted")
    faults = {
        "headings": "" if headings == 1 else f"there are {headings}",
        "shifted": shifted if shifted >= MOST_SHIFT else 0,
        "too small": too_small(page),
        "zoomed into": zooming(page),
        "nameless": nameless(page),
        "axe": violations_in_both_schemes(page),
    }
    page.set_viewport_size({"width": 320, "height": 640})
    faults["too wide"] = too_wide(page)
    faults["spilling"] = spilling(page)
    return {what: found for what, found in faults.items() if found}


def test_targets_that_are_too_small_are_found(page):
    page.set_content("<button style='padding:0;width:20px;height:20px'></button>")
    assert len(too_small(page)) == 1
    page.set_content("<button style='width:44px;height:44px'></button>")
    assert too_small(page) == []


def test_words_that_leave_their_box_are_found(page):
    page.set_content("<main><p style='width:50px'>" + "x" * 50)
    assert len(spilling(page)) == 1
    page.set_content("<main><p style='width:50px;overflow-wrap:anywhere'>" + "x" * 50)
    assert spilling(page) == []


def test_a_field_that_an_iphone_would_zoom_into_is_found(page):
    page.set_content("<input style='font-size:15px'><input type=checkbox style='font-size:9px'>")
    assert len(zooming(page)) == 1
    page.set_content("<input style='font-size:16px'>")
    assert zooming(page) == []


def test_a_select_without_a_visible_label_is_found(page):
    page.set_content("<label style='position:absolute;width:1px' for=x></label><select id=x>")
    assert len(nameless(page)) == 1
    page.set_content("<label for=x>Folder</label><select id=x>")
    assert nameless(page) == []
