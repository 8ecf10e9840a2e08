"""Ferry on a television, with nothing but the keys of its remote."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import films
from tests.browser.films import moves_on, state, until, wait_for_behaviour
from tests.browser.people import Visitor, alice_at
from tests.browser.shelf import Folder, Shelf
from tests.running import Ferry

pytestmark = pytest.mark.browser("where each key moves the focus depends on the layout")
AGENT = "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/120.0 Safari/537.36"
SCREENS = ({"width": 1920, "height": 1080}, {"width": 960, "height": 540})
FOCUSED = "document.activeElement"
# Whether what has the focus is on the screen and looks different from what hasn't.
IS_SEEN = f"""() => {{
  const {{ left, top, right, bottom }} = {FOCUSED}.getBoundingClientRect();
  const inside = left < innerWidth && top < innerHeight && right > 0 && bottom > 0;
  return {FOCUSED} !== document.body && inside && {FOCUSED}.matches(":focus-visible");
}}"""

# Follow all arrows from all controls, and return those that no arrow leads to.
REACHED = """() => {
  const press = (key) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const seen = new Set([document.activeElement]);
  for (const each of seen)
    for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
      each.focus();
      press(key);
      seen.add(document.activeElement);
    }
  const isShown = (each) => {
    const { width, height } = each.getBoundingClientRect();
    return Math.min(width, height) > 4 && each.checkVisibility({ visibilityProperty: true });
  };
  return [...document.querySelectorAll("a[href], :is(button, input, select, textarea):enabled")]
    .filter((each) => each.tabIndex >= 0 && isShown(each) && !seen.has(each))
    .map((each) => each.outerHTML.slice(0, 90));
}"""


@pytest.fixture(params=SCREENS, ids=["1080", "540"])
def television(
    chromium: Browser, ferry: Ferry, request: pytest.FixtureRequest
) -> Iterator[Visitor]:
    with alice_at(chromium, ferry, user_agent=AGENT, viewport=request.param) as alice:
        yield alice


@pytest.fixture
def folder(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "Notes.txt")
    shelf.file(folder, "Tide.mkv", films.copied().read_bytes())
    return folder


def remote(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def send_code(page: Page, code: int) -> None:
    """Press a key that only televisions have, and that has no name."""
    page.evaluate(
        """(keyCode) => document.activeElement.dispatchEvent(
             new KeyboardEvent("keydown", { keyCode, key: "Unidentified", bubbles: true }))""",
        code,
    )


def test_a_film_is_found_played_and_left_with_six_keys(television, folder):
    page = television.page
    television.open(folder.path)
    expect(page.locator("#listing .entry").first).to_be_focused()
    assert page.evaluate(IS_SEEN)
    name = page.evaluate(f"{FOCUSED}.textContent")
    if "Tide" not in name:
        remote(page, "ArrowDown")
    assert page.evaluate(IS_SEEN)
    remote(page, "Enter")
    wait_for_behaviour(page)
    moves_on(page)
    remote(page, "Enter")
    until(page, "film.paused")
    before = state(page, "film.currentTime")
    remote(page, "ArrowRight")
    until(page, f"film.currentTime > {before} + 4")
    send_code(page, 461)
    page.wait_for_url(lambda url: "/view/" not in url)
    until_focused(page, "Tide")


def until_focused(page: Page, name: str) -> None:
    expect(page.locator("#listing .entry:focus")).to_contain_text(name)
    assert page.evaluate(IS_SEEN)


def test_the_players_controls_and_menus_are_reached_and_left(television, folder):
    page = television.page
    television.open(folder.path)
    page.get_by_title("Tide.mkv", exact=True).click()
    wait_for_behaviour(page)
    moves_on(page)
    remote(page, "ArrowDown")
    expect(page.locator("[data-do=toggle]")).to_be_focused()
    subtitles = page.get_by_role("button", name="Subtitles", exact=True)
    for _ in range(9):
        remote(page, "ArrowRight")
        assert page.evaluate(IS_SEEN)
        if subtitles.evaluate("(button) => button === document.activeElement"):
            break
    expect(subtitles).to_be_focused()
    remote(page, "Enter")
    expect(page.get_by_role("button", name="Off", exact=True)).to_be_focused()
    remote(page, "ArrowDown", "Enter")
    expect(page.locator("#subtitles")).to_have_text("Land in sight")
    send_code(page, 415)
    remote(page, "ArrowUp")
    expect(page.get_by_label("Position")).to_be_focused()
    remote(page, "MediaPlayPause")
    until(page, "film.paused")
    remote(page, "Escape")
    page.wait_for_url(lambda url: "/view/" not in url)


@pytest.mark.parametrize("path", ["/", "/transfers/", "/add/", "/account/"])
def test_every_control_is_reached_from_the_first(television, folder, path):
    """From each control, arrows lead to others; none is an island, and none is a trap."""
    page = television.page
    television.open(path)
    page.wait_for_function(f"{FOCUSED} !== document.body")
    assert page.evaluate(IS_SEEN)
    missed = page.evaluate(REACHED)
    assert missed == []


def test_every_control_beside_transfers_is_reached(television):
    page = television.page
    television.open("/transfers/")
    page.locator("#omni").fill(f"magnet:?xt=urn:btih:{'b' * 40}&dn=Bays")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#groups .transfer").first).to_be_visible()
    television.open("/transfers/")
    assert page.evaluate(REACHED) == []


def test_a_text_gives_the_focus_back_at_its_ends(television):
    page = television.page
    television.open("/add/")
    field = page.get_by_label("Magnet links or web addresses, one per line")
    field.fill("one\ntwo")
    remote(page, "ArrowUp")
    expect(field).to_be_focused()
    remote(page, "ArrowDown", "ArrowDown")
    expect(field).not_to_be_focused()
    field.focus()
    remote(page, *["ArrowLeft"] * 7)
    expect(field).to_be_focused()
    remote(page, "ArrowUp")
    expect(field).not_to_be_focused()


def test_a_long_text_scrolls_and_the_bar_above_it_is_reached(television, shelf):
    page = television.page
    folder = shelf.folder()
    for name in ("A.txt", "B.txt", "C.txt"):
        shelf.file(folder, name, b"A line\n" * 150)
    television.open(folder.path)
    page.get_by_title("B.txt", exact=True).click()
    text = page.get_by_role("region", name="File contents")
    expect(text).to_contain_text("A line")
    page.locator("#back").focus()
    menu = page.get_by_role("button", name="More actions", exact=True)
    for _ in range(6):
        remote(page, "ArrowRight")
    expect(menu).to_be_focused()
    remote(page, "ArrowDown")
    expect(text).to_be_focused()
    # A key scrolls for a while, and would undo what comes before it has ended.
    text.evaluate("(text) => void text.addEventListener('scrollend', () => (text.title = 'rests'))")
    remote(page, "ArrowDown")
    expect(text).to_have_attribute("title", "rests")
    assert text.evaluate("(text) => text.scrollTop") > 0
    expect(text).to_be_focused()
    text.evaluate("(text) => text.scrollTo(0, 0)")
    remote(page, "ArrowUp")
    expect(text).not_to_be_focused()
    expect(page.locator("#viewer-name")).to_have_text("B.txt")
    text.focus()
    remote(page, "ArrowRight")
    expect(page.locator("#viewer-name")).to_have_text("C.txt")
