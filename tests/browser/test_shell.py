"""Every page of the shell, checked by axe: in both color schemes, on a desktop and on a phone."""

from functools import partial

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import Route, expect

from tests.browser.axe import faults_at, too_wide
from tests.browser.conftest import PHONE
from tests.browser.people import Visitor
from webui.errors.page import Action, error_page, offline_page

SERVICE_WORKERS = "block"
CONTEXT = "kept"

pytestmark = pytest.mark.browser(
    "axe, widths, and heights need a rendered page, in both color schemes."
)
PAGES = ["/signin/", "/", "/account/", "/offline/", "/nowhere/", "/signout/"]


@pytest.fixture
def someone(page, ferry) -> Visitor:
    return Visitor(page, ferry.url, ferry)


def test_axe_finds_nothing(someone):
    faults = {}
    someone.open("/signin/")
    faults["/signin/"] = faults_at(someone.page, 390, 1440)
    someone.fill_in("alice", "wrong")
    expect(someone.page.get_by_role("alert")).to_be_visible()
    faults["refused"] = faults_at(someone.page, 390, 1440)
    someone.sign_in()
    for path in PAGES[1:]:
        someone.open(path)
        faults[path] = faults_at(someone.page, 390, 1440)
    assert {path: found for path, found in faults.items() if found} == {}


def show(html: str, route: Route) -> None:
    route.fulfill(body=html, content_type="text/html")


def test_axe_finds_nothing_on_any_error(someone):
    """The test renders these pages itself, since some errors are hard to cause."""
    faults = {}
    actions = [Action("/", "Go to your files", is_primary=True)]
    pages = [error_page(status, actions) for status in (400, 403, 404, 405, 413, 429, 502, 503)]
    pages += [error_page(500, actions, reference="7K2M"), offline_page(actions)]
    for each in pages:
        html = render_to_string("errors/show.html", {"page": each})
        someone.page.route("**/error/", partial(show, html))
        someone.open("/error/")
        assert someone.heading() == each.title
        faults[each.title] = faults_at(someone.page, 320, 390, 1440)
    assert {label: found for label, found in faults.items() if found} == {}


def test_no_page_scrolls_sideways(someone):
    someone.bring_session()
    faults = {}
    for path in PAGES:
        someone.open(path)
        faults[path] = []
        for width in (320, 390, 768, 1440):
            someone.page.set_viewport_size({"width": width, "height": 700})
            faults[path] += too_wide(someone.page)
    assert {path: found for path, found in faults.items() if found} == {}


# The vertical middle of the heading's first line, and how far below it that of the link back is.
HEAD = """() => {
    const title = document.querySelector(".page-head h1");
    const line = document.createRange();
    line.setStart(title.firstChild, 0);
    line.setEnd(title.firstChild, 1);
    const middle = (each) => {
        const { top, height } = each.getBoundingClientRect();
        return Math.round(top + height / 2);
    };
    const back = document.querySelector(".page-head .crumbs li:last-child > *");
    return { title: middle(line), back: back && middle(back) - middle(line) };
}"""


@pytest.mark.parametrize(
    ("width", "has_touch"), [(320, False), (390, True), (900, True), (1440, False)]
)
def test_headings_have_the_same_height_on_every_page(chromium, ferry, width, has_touch):
    size = {"width": width, "height": 800}
    with chromium.new_context(viewport=size, has_touch=has_touch, is_mobile=has_touch) as context:
        someone = Visitor(context.new_page(), ferry.url, ferry)
        someone.bring_session()
        paths = ["/", "/files/0/new/", "/transfers/", "/add/", "/account/", "/account/server/"]
        paths += ["/account/health/", "/files/largest/"]
        heads = {}
        for path in paths:
            someone.open(path)
            heads[path] = someone.page.evaluate(HEAD)
        assert len({head["title"] for head in heads.values()}) == 1, heads
        if width < 720:
            backs = [head["back"] for head in heads.values() if head["back"] is not None]
            assert len(backs) == 3
            assert max(map(abs, backs)) <= 2, heads


@pytest.mark.journey
@pytest.mark.browser("Keys move the focus and open pages and dialogs.")
def test_the_keys_lead_where_they_say(someone):
    someone.enter()
    someone.page.keyboard.type("ga")
    someone.page.wait_for_url("**/account/")
    assert someone.heading() == "Account"
    someone.page.keyboard.press("?")
    dialog = someone.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    someone.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


@pytest.mark.browser("Keys move the focus and open pages and dialogs.")
def test_the_first_tab_stop_skips_to_the_content(someone):
    someone.enter()
    someone.page.keyboard.press("Tab")
    expect(someone.page.locator(":focus")).to_have_attribute("href", "#main")


@pytest.mark.browser("A script reports a request that gets no response.")
def test_an_unreachable_server_is_reported_in_a_toast_and_the_page_stays(someone, troubles):
    someone.bring_session()
    someone.open("/account/")
    someone.page.route("**/account/password/", lambda route: route.abort())
    form = someone.page.locator("#password")
    for field in form.locator("input[type=password]").all():
        field.fill("something long")
    with someone.page.expect_event("requestfailed"):
        form.get_by_role("button").click()
    expect(someone.page.locator("#toasts")).to_contain_text("Can't reach Ferry")
    assert someone.heading() == "Account"
    assert any("net::ERR_FAILED" in trouble for trouble in troubles)
    troubles.clear()


SMALL_TEXT = """() => [...document.querySelectorAll("input, select, textarea")]
  .filter((each) => each.checkVisibility() && !/^(checkbox|radio|file)$/.test(each.type))
  .filter((each) => parseFloat(getComputedStyle(each).fontSize) < 16)
  .map((each) => each.outerHTML.slice(0, 80))"""
LANDSCAPE = {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True}
INSETS = {"left": 47, "right": 47, "bottom": 21}
COVERED = """({ left, right, bottom }) => {
  const isBelow = (each) => getComputedStyle(each.closest("nav") ?? each).position === "fixed";
  return [...document.querySelectorAll("a, button, input, select, textarea, h1, p")]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }))
    .filter((each) => !each.closest(".sr, .sr-focus, dialog, [popover]"))
    .filter((each) => {
      const box = each.getBoundingClientRect();
      if (box.width < 2) return false;
      if (box.left < left - 1 || box.right > innerWidth - right + 1) return true;
      return isBelow(each) && box.bottom > innerHeight - bottom + 1;
    })
    .map((each) => each.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("options", [PHONE, LANDSCAPE], ids=["upright", "lying"])
def test_phones_zoom_no_field_and_cover_no_control(chromium, ferry, options):
    with chromium.new_context(**options) as context:
        alice = Visitor(context.new_page(), ferry.url, ferry)
        alice.bring_session()
        insets = INSETS if options is LANDSCAPE else {"left": 0, "right": 0, "bottom": 34}
        session = context.new_cdp_session(alice.page)
        session.send("Emulation.setSafeAreaInsetsOverride", {"insets": insets})
        faults = {}
        for path in ("/", "/transfers/", "/add/", "/account/", "/search/", "/account/notices/"):
            alice.open(path)
            found = alice.page.evaluate(SMALL_TEXT) + alice.page.evaluate(COVERED, insets)
            faults[path] = [*found, *too_wide(alice.page)]
        assert {path: found for path, found in faults.items() if found} == {}
