"""Ferry in other languages: longer words fit, and so do pages that read from right to left."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.utils import translation
from django.utils.translation import gettext, pgettext
from playwright.sync_api import Browser, BrowserContext, Route, expect

from tests.browser.axe import too_wide, violations
from tests.browser.looks import dressed
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.spilling import spilling
from tests.running import PASSWORD, Ferry
from tests.webui.test_catalog import LANGUAGES

pytestmark = pytest.mark.browser("Only a browser measures whether words fit, in any language.")
WIDTHS = [320, 390, 768, 1440]
PAGES = [
    "/",
    "/?view=grid",
    "/?view=media",
    "/transfers/",
    "/add/",
    "/account/",
    "/account/server/",
    "/account/limits/",
    "/files/largest/",
    "/files/deleted/",
    "/search/",
    "/account/people/invite/",
    "/account/pair/code/",
    "/offline/",
    "/signout/",
]
OUTSIDE = """() => [...document.querySelectorAll(".nav a, button, h1, h2")]
    .filter(each => each.checkVisibility() && !each.closest(".sr, .toasts"))
    .filter(each => each.scrollWidth > each.clientWidth + 1 && each.clientWidth)
    .map(each => each.textContent.trim())"""


@pytest.fixture(scope="module")
def films(ferry: Ferry) -> Iterator[Folder]:
    shelf = Shelf(ferry)
    yield shelf.films()
    shelf.close()


@contextmanager
def browser_in(language: str, chromium: Browser, ferry: Ferry) -> Iterator[BrowserContext]:
    """Yield a context in a language, signed in as Alice."""
    with chromium.new_context(locale=language, service_workers="block") as context:
        page = context.new_page()
        page.goto(f"{ferry.url}/signin/")
        with translation.override(language):
            page.get_by_label(pgettext("of a person", "Name"), exact=True).fill("alice")
            page.get_by_label(gettext("Password"), exact=True).fill(PASSWORD)
            page.get_by_role("button", name=gettext("Sign in"), exact=True).click()
        page.wait_for_url(lambda address: "/signin/" not in address)
        yield context


@pytest.fixture(scope="module")
def browser_in_german(chromium: Browser, ferry: Ferry) -> Iterator[BrowserContext]:
    with browser_in("de", chromium, ferry) as context:
        yield context


@pytest.fixture
def german(browser_in_german: BrowserContext, ferry: Ferry, films: Folder) -> Iterator[Visitor]:
    with browser_in_german.new_page() as page:
        yield Visitor(page, ferry.url, ferry)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_translated_word_sticks_out(chromium, ferry, films, language):
    faults = {}
    with browser_in(language, chromium, ferry) as context:
        page = context.new_page()
        visitor = Visitor(page, ferry.url, ferry)
        for path in [*PAGES, films.path, f"{films.path}new/"]:
            visitor.open(path)
            assert page.locator("html").get_attribute("lang") == language, path
            faults[path] = []
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 700})
                faults[path] += too_wide(page)
                faults[path] += [f"{width}: {each}" for each in page.evaluate(OUTSIDE)]
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize("path", ["/transfers/", "/account/", "/account/server/"])
def test_a_title_is_not_broken_inside_a_word(german, path):
    german.page.set_viewport_size({"width": 320, "height": 700})
    german.open(path)
    title = german.page.locator("h1")
    size = title.evaluate("each => parseFloat(getComputedStyle(each).fontSize)")
    assert title.bounding_box()["height"] < 2 * size


@pytest.mark.browser("axe reads colors and names from what the browser renders.")
@pytest.mark.parametrize("language", LANGUAGES)
def test_axe_finds_nothing_in_another_language(chromium, ferry, films, language):
    faults = {}
    with browser_in(language, chromium, ferry) as context:
        page = context.new_page()
        page.emulate_media(reduced_motion="reduce")
        for path in ["/transfers/", "/add/", "/account/", "/account/server/", films.path]:
            page.goto(f"{ferry.url}{path}")
            for width, scheme in ((320, "light"), (1440, "dark")):
                page.set_viewport_size({"width": width, "height": 700})
                page.emulate_media(color_scheme=scheme)
                faults[path, width] = violations(page)
    assert {place: found for place, found in faults.items() if found} == {}


def test_a_selection_fits_in_german(german, films):
    page = german.page
    page.set_viewport_size({"width": 320, "height": 700})
    german.open(films.path)
    page.get_by_role("button", name="Elemente auswählen").click()
    page.get_by_role("button", name="Alle auswählen").click()
    expect(page.locator(".actionbar .selection-count strong")).to_have_text("5 ausgewählt")
    assert too_wide(page) == []
    assert page.evaluate(OUTSIDE) == []


@pytest.mark.parametrize("width", [320, 390])
def test_the_buttons_of_dialogs_fit_in_german(german, films, width):
    page = german.page
    page.set_viewport_size({"width": width, "height": 700})
    for name in ("new", "delete", "play"):
        german.open(films.path)
        if name == "new":
            page.keyboard.press("n")
        else:
            page.locator("tr", has_text="Clouds.mkv").locator(".more").click()
            page.locator(f"#entry-menu [data-do={name}]").click()
        expect(page.get_by_role("dialog").locator(".btn").first).to_be_visible()
        dressed(page)
        assert spilling(page) == [], name


def turned(route: Route) -> None:
    """Fulfill the request with a page that is laid out from right to left."""
    answer = route.fetch()
    route.fulfill(response=answer, body=answer.text().replace('dir="ltr"', 'dir="rtl"', 1))


def test_a_right_to_left_page_does_not_scroll_sideways(german, films):
    page = german.page
    faults = []
    is_page = lambda request: request.resource_type == "document"  # noqa: E731
    page.route("**/*", lambda route: turned(route) if is_page(route.request) else route.continue_())
    for path in [*PAGES, films.path]:
        german.open(path)
        assert page.evaluate("getComputedStyle(document.body).direction") == "rtl", path
        for width in (320, 1440):
            page.set_viewport_size({"width": width, "height": 700})
            faults += [f"{path}, {each}" for each in too_wide(page)]
    assert faults == []
