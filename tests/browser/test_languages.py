"""Ferry in another language: longer words fit, and so does a page that is read from the right."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.axe import violations
from tests.browser.looks import dressed
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.spilling import spilling
from tests.running import PASSWORD, Ferry

WIDTHS = [320, 390, 768, 1440]
PAGES = [
    "/",
    "/?view=grid",
    "/transfers/",
    "/add/",
    "/account/",
    "/account/people/invite/",
    "/account/pair/code/",
    "/offline/",
    "/signout/",
]
OUTSIDE = """() => [...document.querySelectorAll(".nav a, button, h1, h2")]
    .filter(each => each.checkVisibility() && !each.closest(".sr, .toasts"))
    .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth)
    .map(each => each.textContent.trim())"""

COUNTED = """async () => {
    const main = document.querySelector('script[type=module]').src;
    const words = main.replace(/main[.]\\w*[.]?js$/, 'files/words.js');
    const { numberWords, sizeWords } = await import(words);
    const sizes = [512, 41200, 9.8e9].map((bytes) => sizeWords(bytes));
    return [numberWords(10000), ...sizes, sizeWords(2.5e6, true)];
}"""


@pytest.fixture(scope="module")
def films(ferry: Ferry) -> Iterator[Folder]:
    shelf = Shelf(ferry)
    yield shelf.films()
    shelf.close()


@pytest.fixture
def german(chromium: Browser, ferry: Ferry, films: Folder) -> Iterator[Visitor]:
    with chromium.new_context(locale="de-DE", service_workers="block") as context:
        page = context.new_page()
        visitor = Visitor(page, ferry.url, ferry)
        visitor.open("/signin/")
        page.get_by_label("Name").fill("alice")
        page.get_by_label("Passwort").fill(PASSWORD)
        page.get_by_role("button", name="Anmelden").click()
        page.wait_for_url(lambda address: "/signin/" not in address)
        yield visitor


def is_too_wide(page: Page, width: int) -> bool:
    return page.evaluate("document.documentElement.scrollWidth") > width


@pytest.mark.parametrize("width", WIDTHS)
def test_no_german_word_sticks_out(german, films, width):
    page = german.page
    page.set_viewport_size({"width": width, "height": 700})
    for path in [*PAGES, films.path, f"{films.path}new/"]:
        german.open(path)
        assert page.locator("html").get_attribute("lang") == "de", path
        assert not is_too_wide(page, width), path
        assert page.evaluate(OUTSIDE) == [], path


@pytest.mark.parametrize("path", ["/transfers/", "/account/"])
def test_a_title_is_not_broken_in_the_midst_of_a_word(german, path):
    german.page.set_viewport_size({"width": 320, "height": 700})
    german.open(path)
    title = german.page.locator("h1")
    size = title.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
    assert title.bounding_box()["height"] < 2 * size


@pytest.mark.parametrize("width", [320, 1440])
def test_axe_finds_nothing_in_german(german, films, width):
    german.page.set_viewport_size({"width": width, "height": 700})
    german.page.emulate_media(reduced_motion="reduce")
    for path in ["/transfers/", "/add/", "/account/", films.path]:
        german.open(path)
        assert violations(german.page) == [], path


def test_a_selection_fits_in_german(german, films):
    page = german.page
    page.set_viewport_size({"width": 320, "height": 700})
    german.open(films.path)
    page.get_by_role("button", name="Elemente auswählen").click()
    page.get_by_role("button", name="Alles auswählen").click()
    expect(page.locator(".actionbar output strong")).to_have_text("5 ausgewählt")
    assert not is_too_wide(page, 320)
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [320, 390])
def test_the_buttons_of_dialogs_fit_in_german(german, films, width):
    page = german.page
    page.set_viewport_size({"width": width, "height": 700})
    for name in ("new", "delete", "share"):
        german.open(films.path)
        if name == "new":
            page.keyboard.press("n")
        else:
            page.locator("tr", has_text="Clouds.mkv").locator(".more").click()
            page.locator(f"#entry-menu [data-do={name}]").click()
        expect(page.get_by_role("dialog").locator(".btn").first).to_be_visible()
        dressed(page)
        assert spilling(page) == [], name


def test_scripts_count_as_the_page_does(german):
    german.open("/")
    words = german.page.evaluate(COUNTED)
    assert [each.replace("\xa0", " ") for each in words] == [
        "10.000",
        "512 B",
        "41 KB",
        "9,8 GB",
        "2,5 MB/s",
    ]


def turned(route: Route) -> None:
    """The page as a language would have it that is read from the right."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace('dir="ltr"', 'dir="rtl"', 1))


@pytest.mark.parametrize("width", [320, 1440])
def test_a_page_that_is_read_from_the_right_does_not_scroll_sideways(german, films, width):
    page = german.page
    page.set_viewport_size({"width": width, "height": 700})
    is_page = lambda request: request.resource_type == "document"  # noqa: E731
    page.route("**/*", lambda route: turned(route) if is_page(route.request) else route.continue_())
    for path in [*PAGES, films.path]:
        german.open(path)
        assert page.evaluate("getComputedStyle(document.body).direction") == "rtl", path
        assert not is_too_wide(page, width), path
