"""Films as people watch them, through the whole program."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import films
from tests.browser.axe import faults_of
from tests.browser.conftest import PHONE
from tests.browser.films import moves_on, state, until, wait_for_behaviour, watch
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.touches import double_tap, dragging
from tests.browser.waiting import PATIENCE_MS
from tests.running import Ferry
from tests.service.media import samples
from tests.service.media.hls import test_burned_subtitles as burned

COPIED, ENCODED, TENTH = "Tide S01E01.mkv", "Tide S01E02.avi", "Tide S01E10.mp4"

pytestmark = pytest.mark.browser("hls.js plays, seeks, and switches; layout, focus, full screen")
CONTEXT = "kept"
SERVICE_WORKERS = "block"
NAME = "document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()"


@pytest.fixture
def series(shelf: Shelf) -> Folder:
    """Make a film to copy, one to encode, and a short one, in a new folder."""
    folder = shelf.folder()
    shelf.file(folder, COPIED, films.copied().read_bytes())
    shelf.file(folder, ENCODED, films.encoded().read_bytes())
    shelf.file(folder, TENTH, films.short().read_bytes())
    return folder


def playing(visitor: Visitor, folder: Folder, name: str) -> Page:
    watch(visitor, folder.path, name)
    moves_on(visitor.page)
    return visitor.page


def stop_at(page: Page, seconds: int) -> None:
    """Pause at this position, and wait until the server has stored it."""
    page.get_by_label("Position").fill(str(seconds))
    until(page, f"film.currentTime > {seconds}")
    with page.expect_response("**/watch/**") as saved:
        page.keyboard.press("k")
    assert saved.value.status == 204


def stir(page: Page) -> None:
    page.mouse.move(300, 300)
    page.mouse.move(320, 320)


@pytest.mark.parametrize("name", [pytest.param(COPIED, marks=pytest.mark.journey), ENCODED])
def test_a_click_plays_a_film_and_playback_continues_after_a_seek(alice, series, name):
    page = playing(alice, series, name)
    assert state(page, "film.duration") == pytest.approx(films.SECONDS, abs=0.3)
    for at in (30, 10):
        page.get_by_label("Position").fill(str(at))
        until(page, f"!film.seeking && film.currentTime >= {at}")
        moves_on(page)
    assert page.locator("#at").inner_text().startswith("0:1")
    assert page.locator("#of").inner_text() == "/ 0:40"


def bubble_of(page: Page, at: float) -> tuple[str, float]:
    """Point at this share of the position bar; return the bubble's text, and its middle."""
    line = page.get_by_label("Position").bounding_box()
    page.mouse.move(line["x"] + line["width"] * at, line["y"] + line["height"] / 2)
    bubble = page.locator(".bubble")
    expect(bubble).to_be_visible()
    place = bubble.bounding_box()
    assert line["x"] - 0.5 <= place["x"]
    assert place["x"] + place["width"] <= line["x"] + line["width"] + 0.5
    middle = place["x"] + place["width"] / 2
    return bubble.inner_text().strip(), (middle - line["x"]) / line["width"]


@pytest.mark.browser("where the time bubble stands over the line")
def test_the_time_is_shown_over_the_line_where_a_mouse_points(alice, series):
    page = playing(alice, series, COPIED)
    expect(page.locator(".bubble")).to_be_hidden()
    page.keyboard.press("k")
    for share, words in ((0.001, "0:00"), (0.5, "0:20"), (0.999, "0:40")):
        assert bubble_of(page, share)[0] == words
    words, middle = bubble_of(page, 0.75)
    assert middle == pytest.approx(0.75, abs=0.01)
    page.mouse.down()
    page.mouse.up()
    until(page, "!film.seeking && film.currentTime > 20")
    assert page.locator("#at").inner_text() == words
    page.mouse.move(300, 300)
    expect(page.locator(".bubble")).to_be_hidden()


@pytest.mark.browser("the bubble shows for seeks by key and while the line has the focus")
def test_the_time_is_shown_over_the_line_where_keys_lead(alice, series):
    page = playing(alice, series, COPIED)
    bubble, line = page.locator(".bubble"), page.get_by_label("Position")
    page.keyboard.press("k")
    page.keyboard.press("5")
    expect(bubble).to_have_text("0:20")
    expect(bubble).to_be_hidden()
    tabbed_to(page, "Position")
    expect(bubble).to_have_text("0:20")
    page.keyboard.press("ArrowRight")
    expect(bubble).to_have_text("0:25")
    expect(line).to_have_attribute("aria-valuetext", "0:25 of 0:40")
    expect(bubble).to_have_attribute("aria-hidden", "true")
    page.keyboard.press("Tab")
    expect(bubble).to_be_hidden()


@pytest.mark.browser("the bubble follows a finger, and stays on the screen")
def test_the_time_is_shown_over_the_line_where_a_finger_drags(phone, series):
    page = playing(phone, series, COPIED)
    page.keyboard.press("k")
    line = page.get_by_label("Position").bounding_box()
    y = line["y"] + line["height"] / 2
    with dragging(page, line["x"] + 20, y) as drag_to:
        drag_to(line["x"] + line["width"] / 2)
        expect(page.locator(".bubble")).to_have_text("0:20")
        drag_to(line["x"] + line["width"])
        expect(page.locator(".bubble")).to_have_text("0:40")
        place = page.locator(".bubble").bounding_box()
        assert place["x"] + place["width"] <= 390
    expect(page.locator(".bubble")).to_be_hidden()


COLORS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
}"""


@pytest.mark.browser("the bubble draws frames that the browser decoded")
def test_the_bubble_shows_a_picture_where_the_film_has_been(alice, series):
    # The worker may have made a filmstrip by now.
    alice.page.route("**/scenes/**", lambda route: route.fulfill(status=404))
    page, urls = playing(alice, series, COPIED), []
    page.keyboard.press("5")
    until(page, "!film.seeking && film.currentTime > 20")
    # Each picture covers 0.2 s, and the player takes one every 0.25 s: half speed leaves none out.
    state(page, "film.playbackRate = 0.5")
    moves_on(page)
    page.keyboard.press("k")
    until(page, "film.buffered.end(film.buffered.length - 1) > film.duration - 0.5")
    page.on("request", lambda request: urls.append(request.url))
    picture = page.locator(".bubble canvas")
    # The mouse may land a pixel, 0.05 s, beside the middle of the picture that the pause took.
    bubble_of(page, state(page, "(Math.floor(film.currentTime / film.duration * 200) + 0.5) / 200"))
    expect(picture).to_be_visible()
    place = picture.bounding_box()
    assert (place["width"], place["height"]) == (160, 90)
    assert picture.evaluate(COLORS) > 10
    bubble_of(page, 0.75)
    expect(picture).to_be_hidden()
    assert [url for url in urls if url.endswith(".m4s")] == []


RED_AT_9 = "canvas => canvas.getContext('2d').getImageData(9, 9, 1, 1).data[0]"
SCENES = {
    "chapters": [{"at": 0, "title": "Ebb"}, {"at": 30, "title": "Flood"}],
    "filmstrip": {"url": "/strip", "frames": 100, "columns": 10},
}


@pytest.mark.browser("the bubble draws a part of a picture, and a menu seeks")
def test_a_film_shows_chapters_and_pictures_of_what_it_has_not_played(alice, series):
    page = alice.page
    page.route("**/scenes/**", lambda route: route.fulfill(json=SCENES))
    strip = samples.picture(1600, 900)
    page.route("**/strip", lambda route: route.fulfill(body=strip, content_type="image/jpeg"))
    playing(alice, series, COPIED)
    expect(page.locator(".chapter-marks span")).to_have_count(1)
    text, _middle = bubble_of(page, 0.41)
    assert text.split() == ["Ebb", "0:16"]
    picture = page.locator(".bubble canvas")
    expect(picture).to_be_visible()
    assert picture.evaluate(RED_AT_9) > 150
    assert faults_of(page) == []
    page.get_by_role("button", name="Sound, quality, and more", exact=True).click()
    expect(page.get_by_role("button", name="Ebb")).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Flood").click()
    until(page, "!film.seeking && film.currentTime >= 30")


@pytest.mark.journey
def test_a_resume_position_follows_a_person_to_another_device(
    alice: Visitor, series: Folder, chromium: Browser, ferry: Ferry
):
    page = playing(alice, series, COPIED)
    stop_at(page, 20)
    expect(page.locator("[data-do=toggle]")).to_have_attribute("aria-label", "Play")
    with chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as phone:
        other = Visitor(phone.new_page(), ferry.url, ferry)
        other.enter()
        other.open(series.path)
        expect(other.page.locator("progress.bar")).to_have_count(1)
        other.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
        begun = other.page.locator("#continue")
        expect(begun).to_contain_text("Tide S01E01")
        expect(begun.get_by_role("list")).to_have_css("display", "flex")
        watch(other, series.path, COPIED)
        other.page.get_by_role("button", name="Resume at 0:2").click()
        until(other.page, "film.currentTime > 19.5")
        moves_on(other.page)


@pytest.mark.browser("whether a beacon leaves before Back requests the page")
def test_back_to_the_files_tells_how_far_it_is_by_now(alice, series):
    """The report may arrive while the page loads; then only the next page shows the position."""
    page = playing(alice, series, COPIED)
    with page.expect_request("**/watch/**"):
        page.get_by_label("Position").fill("10")
    until(page, "film.currentTime > 14")
    with page.expect_request("**/watch/**"):
        page.go_back()
    for _ in range(20):
        if percent_shown(page) >= 100 * 14 // 40:
            break
        page.reload()
    assert percent_shown(page) >= 100 * 14 // 40


def percent_shown(page: Page) -> int:
    return int(page.locator("tr progress.bar").get_attribute("value"))


@pytest.mark.journey
def test_subtitles_are_shown_when_they_are_chosen_and_remembered(alice, series):
    page = playing(alice, series, COPIED)
    stir(page)
    page.get_by_role("button", name="Subtitles").click()
    page.get_by_role("button", name="English").click()
    expect(page.locator("#subtitles")).to_have_text("Land in sight")
    stop_at(page, 20)
    watch(alice, series.path, COPIED)
    page.get_by_role("button", name="Resume at 0:2").click()
    expect(page.locator("#subtitles")).to_have_text("Land in sight")


# How bright the film is where the subtitles of `burned` are.
BRIGHTNESS = """(() => {
  const context = new OffscreenCanvas(16, 18).getContext("2d");
  context.drawImage(film, 0, 0, 16, 18);
  return context.getImageData(8, 15, 1, 1).data[1];
})()"""


def test_subtitles_that_are_pictures_are_burned_in_on_demand(alice, shelf):
    folder = shelf.folder()
    shelf.file(folder, COPIED, burned.film().read_bytes())
    page = playing(alice, folder, COPIED)
    page.keyboard.press("k")
    page.get_by_label("Position").fill("4")
    until(page, "film.currentTime === 4 && !film.seeking")
    for name, is_bright in (("English, burned in", True), ("Off", False)):
        stir(page)
        page.get_by_role("button", name="Subtitles", exact=True).click()
        page.get_by_role("button", name=name, exact=True).click()
        has_changed = f"{BRIGHTNESS} > 200 === {str(is_bright).lower()}"
        until(page, f"film.readyState > 1 && Math.abs(film.currentTime - 4) < 0.5 && {has_changed}")
        assert state(page, "film.paused")


def test_subtitles_can_be_larger_darker_and_later(alice, series):
    page = playing(alice, series, COPIED)
    page.keyboard.press("c")
    words = page.locator("#subtitles")
    expect(words).to_have_text("Land in sight")
    before = words.bounding_box()["height"]
    stir(page)
    page.get_by_role("button", name="Subtitles", exact=True).click()
    page.get_by_role("button", name="Larger subtitles").click()
    assert words.bounding_box()["height"] > before
    page.get_by_role("button", name="Dark background").click()
    expect(words).to_have_attribute("data-background", "")
    for _ in range(3):
        page.get_by_role("button", name="later").click()
    expect(page.locator("#delay")).to_have_text("1.5 s")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.keyboard.press("0")
    expect(words).to_be_hidden()


def resume_offered(visitor: Visitor, folder: Folder) -> Page:
    """Return a page that offers to resume, and hasn't played yet."""
    stop_at(playing(visitor, folder, COPIED), 20)
    watch(visitor, folder.path, COPIED)
    expect(visitor.page.get_by_role("button", name="Resume at 0:2")).to_be_visible()
    return visitor.page


def test_choices_made_before_a_film_plays_apply_to_it(alice, series):
    page, urls = resume_offered(alice, series), []
    page.on("request", lambda request: urls.append(request.url))
    menu = page.get_by_role("button", name="Sound, quality, and more")
    menu.click()
    sounds, levels = (
        page.get_by_role("group", name=name, exact=True) for name in ("Sound", "Quality")
    )
    expect(sounds.get_by_role("button")).to_have_text(["English", "Deutsch"])
    expect(sounds.get_by_role("button", name="English")).to_have_attribute("aria-current", "true")
    expect(levels.get_by_role("button")).to_have_text(["Automatic", "720p", "480p"])
    sounds.get_by_role("button", name="Deutsch").click()
    menu.click()
    expect(sounds.get_by_role("button", name="Deutsch")).to_have_attribute("aria-current", "true")
    levels.get_by_role("button", name="480p").click()
    page.get_by_role("button", name="Subtitles", exact=True).click()
    page.get_by_role("button", name="English").click()
    assert [url for url in urls if ".m3u8" not in url] == []
    assert len(urls) == 1, urls
    page.get_by_role("button", name="Resume at 0:2").click()
    moves_on(page)
    assert state(page, "film.currentTime") > 19.5
    assert state(page, "film.videoHeight") == 480
    expect(page.locator("#subtitles")).to_have_text("Land in sight")
    assert [url for url in urls if "/a2copy/" in url]
    assert [url for url in urls if "/vcopy/" in url and ".m4s" in url] == []


def test_groups_of_a_menu_have_names_and_lines_between_them(alice, series):
    page = resume_offered(alice, series)
    for menu, names in (
        ("Subtitles", ["Subtitles", "Appearance", "Timing"]),
        ("Sound, quality, and more", ["Sound", "Quality", "Other films", "This film"]),
    ):
        page.get_by_role("button", name=menu, exact=True).click()
        shown = page.locator(".menu:popover-open .menu-group:visible")
        expect(shown.locator(".menu-title")).to_have_text(names)
        for name, group in zip(names, shown.all(), strict=True):
            expect(group).to_have_role("group")
            expect(group).to_have_accessible_name(name)
            wide = "0px" if name == names[0] else "1px"
            expect(group).to_have_css("border-top-width", wide)
        page.keyboard.press("Escape")


def test_choices_that_change_while_they_are_looked_at_keep_the_focus(alice, series):
    page = playing(alice, series, COPIED)
    stir(page)
    menu = page.get_by_role("button", name="Sound, quality, and more")
    menu.click()
    page.get_by_role("button", name="480p", exact=True).click()
    menu.click()
    # A menu that has opened focuses its first choice.
    until(page, "document.activeElement.closest('#more-menu')")
    # Find and focus in one task of the page: between two, it may replace the choices.
    page.evaluate("document.querySelector('[data-level=\"-1\"]').focus()")
    expect(page.get_by_role("button", name="Automatic (480p)")).to_be_focused()
    until(page, "film.videoHeight === 480")
    moves_on(page)


def test_choices_that_vanish_for_a_moment_get_the_focus_back_when_they_return(alice, series):
    """hls.js lists no choices while it restarts; tests can't foresee when it does."""
    page = playing(alice, series, COPIED)
    stir(page)
    page.get_by_role("button", name="Sound, quality, and more").click()
    page.evaluate(
        """async () => {
          const names = performance.getEntriesByType("resource").map((each) => each.name);
          const url = names.find((each) => each.includes("/player/choices"));
          const { refill } = await import(url);
          const list = document.querySelector("#levels ul");
          const choices = [...list.children];
          list.querySelector("button").focus();
          refill(list, []);
          refill(list, choices);
        }"""
    )
    expect(page.locator("[data-level='-1']")).to_be_focused()


def hold_the_countdown(page: Page) -> None:
    """Ignore the click by which the page itself goes on, at the end of the countdown."""
    page.evaluate(
        "document.addEventListener('click', (event) => event.isTrusted || event.preventDefault())"
    )


def test_the_next_episode_follows_unless_canceled(alice, series):
    page = playing(alice, series, ENCODED)
    hold_the_countdown(page)
    stir(page)
    assert page.locator("#next").get_attribute("aria-label") == "Next: Episode 10"
    page.get_by_label("Position").fill("38")
    expect(page.get_by_role("heading", name="Next: Episode 10")).to_be_visible()
    now = page.get_by_role("link", name="Play now")
    expect(now).to_have_accessible_description(re.compile(r"^Starts in \d seconds?$"))
    expect(page.locator(".card").get_by_role("status")).to_have_count(0)
    page.get_by_role("button", name="Stay here").click()
    expect(page.get_by_role("heading", name="Next: Episode 10")).to_be_hidden()
    page.get_by_label("Position").fill("38")
    page.keyboard.press("k")
    now.click()
    expect(page.locator("h1")).to_have_text(TENTH)
    wait_for_behaviour(page)
    moves_on(page)
    watched = page.context.new_page()
    watched.goto(alice.url + series.path)
    expect(watched.locator(".seen")).to_have_count(1)


@pytest.mark.journey
def test_every_key_of_the_player_works(alice, series):
    page = playing(alice, series, COPIED)
    page.keyboard.press("Space")
    until(page, "film.paused")
    for key, expected in [("5", 20), ("l", 30), ("j", 20), ("ArrowRight", 25), ("ArrowLeft", 20)]:
        page.keyboard.press(key)
        until(page, f"Math.abs(film.currentTime - {expected}) < 0.2")
    page.keyboard.press("m")
    assert state(page, "film.muted")
    page.keyboard.press("m")
    page.keyboard.press("ArrowDown")
    assert state(page, "film.volume") == pytest.approx(0.9)
    page.keyboard.press(">")
    assert state(page, "film.playbackRate") == 1.25
    page.keyboard.press("<")
    page.keyboard.press("f")
    page.wait_for_selector("#viewer:fullscreen")
    page.keyboard.press("f")
    page.keyboard.press("k")
    moves_on(page)
    page.keyboard.press("Shift+N")
    expect(page.locator("h1")).to_have_text(ENCODED)


def test_the_shortcuts_are_shown_in_full_screen_too(alice, series):
    page = playing(alice, series, COPIED)
    keys = page.get_by_role("dialog", name="Shortcuts")
    page.get_by_label("Position").focus()
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    page.keyboard.press("f")
    assert not page.evaluate("Boolean(document.fullscreenElement)")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("f")
    page.wait_for_selector("#viewer:fullscreen")
    page.keyboard.press("?")
    expect(keys).to_be_visible()
    place = keys.bounding_box()
    middle = [place["x"] + place["width"] / 2, place["y"] + place["height"] / 2]
    assert page.evaluate(
        "([x, y]) => document.elementFromPoint(x, y).closest('dialog')?.id", middle
    )
    keys.get_by_role("button", name="Close").click()
    expect(keys).to_be_hidden()
    assert faults_of(page) == []


def test_all_controls_are_reached_and_used_by_keyboard_alone(alice, series):
    page = playing(alice, series, COPIED)
    page.locator("#back").focus()
    seen = []
    for _ in range(20):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(NAME))
    for label in ("Position", "Pause", "Back 10 seconds", "Subtitles", "Full screen"):
        assert any(label in each for each in seen), seen
    page.get_by_role("button", name="Pause").focus()
    page.keyboard.press("Enter")
    until(page, "film.paused")
    for name, seconds in (("Forward 10 seconds", 10), ("Back 10 seconds", -10)):
        before = state(page, "film.currentTime")
        page.get_by_role("button", name=name).focus()
        page.keyboard.press("Enter")
        until(page, f"Math.abs(film.currentTime - {max(before + seconds, 0)}) < 0.2")


def test_the_controls_hide_after_three_seconds_and_return(alice, series):
    page = playing(alice, series, COPIED)
    page.evaluate("document.activeElement.blur()")
    expect(page.locator("#viewer")).to_have_class("viewer stage player idle")
    expect(page.locator("#controls")).to_have_css("opacity", "0")
    stir(page)
    expect(page.locator("#controls")).to_have_css("opacity", "1")


@pytest.mark.browser("axe on the rendered controls and menu")
def test_axe_finds_nothing(alice, series):
    alice.page.emulate_media(reduced_motion="reduce")
    page = playing(alice, series, COPIED)
    page.keyboard.press("k")
    assert faults_of(page) == []
    page.get_by_role("button", name="Subtitles").click()
    assert faults_of(page) == []


@pytest.mark.browser("layout at four widths")
def test_nothing_is_wider_than_the_screen(alice, series):
    page = playing(alice, series, ENCODED)
    page.keyboard.press("k")
    assert {width: found for width in (320, 390, 768, 1440) if (found := beyond(page, width))} == {}


def beyond(page: Page, width: int) -> list[str]:
    """Return what reaches beyond a screen of this width."""
    page.set_viewport_size({"width": width, "height": 700})
    found = [] if page.evaluate("document.documentElement.scrollWidth") <= width else ["the page"]
    controls = page.locator("#controls :is(button, a, input):visible").all()
    assert controls
    for each in controls:
        place = each.bounding_box()
        if place["x"] < -0.5 or place["x"] + place["width"] > width + 0.5:
            found.append(each.evaluate("control => control.outerHTML.slice(0, 120)"))
    return found


# Phones in landscape, from large to small, then in portrait.
PHONES = [(844, 390), (667, 375), (568, 320), (390, 844), (320, 568)]
FITS = """() => {
  const isInside = ({ left, top, right, bottom }) =>
    Math.min(left, top) >= -0.5 && right <= innerWidth + 0.5 && bottom <= innerHeight + 0.5;
  const isHit = (each, { left, top, width, height }) =>
    each.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  const chosen = ".viewer-bar :is(a, button), #controls :is(a, button, input), .card, .card *";
  const shown = [...document.querySelectorAll(chosen)].filter((each) =>
    each.checkVisibility({ visibilityProperty: true }) && !each.matches(".sr, svg *"));
  const fits = (each, place) =>
    isInside(place) && (isHit(each, place) || !each.matches("a, button, input"));
  const faults = shown.filter((each) => !fits(each, each.getBoundingClientRect()));
  const scrolling = [document.scrollingElement, document.querySelector("#stage")]
    .filter((each) => each.scrollHeight > each.clientHeight + 1);
  if (shown.length < 8) return ["nothing to see"];
  return [...faults, ...scrolling].map((each) => each.outerHTML.slice(0, 80));
}"""


def unfit(page: Page, state: str) -> dict[str, list[str]]:
    """Return what doesn't fit, for each phone."""
    found = {}
    for width, height in PHONES:
        page.set_viewport_size({"width": width, "height": height})
        page.mouse.move(width / 2, 60)
        found[f"{state} {width}x{height}"] = page.evaluate(FITS)
    return {where: what for where, what in found.items() if what}


@pytest.mark.browser("layout and hit areas on five phones")
def test_the_player_and_its_cards_fit_on_a_phone(chromium: Browser, ferry: Ferry, shelf: Shelf):
    folder, name = shelf.folder(), f"{'A.name.without.a.place.to.break.' * 3} S01E0"
    shelf.file(folder, f"{name}1.avi", films.copied().read_bytes())
    shelf.file(folder, f"{name}2.mp4", films.short().read_bytes())
    with chromium.new_context(**PHONE, service_workers="block") as context:
        visitor = Visitor(context.new_page(), ferry.url, ferry)
        visitor.bring_session()
        page, found = visitor.page, {}
        page.emulate_media(reduced_motion="reduce")
        answer = {"kind": "none", "url": "", "progress": None, "reason": "It is gone. " * 4}
        page.route("**/hls/?in=*", lambda route: route.fulfill(json=answer))
        watch(visitor, folder.path, f"{name}1.avi")
        expect(page.get_by_role("alert")).to_be_visible()
        found |= unfit(page, "failed")
        answer |= {"kind": "converting", "progress": 40}
        watch(visitor, folder.path, f"{name}1.avi")
        expect(page.locator(".card .pct")).to_have_text("40%")
        found |= unfit(page, "converting")
        page.unroute("**/hls/?in=*")
        playing(visitor, folder, f"{name}1.avi")
        page.keyboard.press("k")
        found |= unfit(page, "paused")
        page.keyboard.press("k")
        stop_at(page, 20)
        watch(visitor, folder.path, f"{name}1.avi")
        expect(page.get_by_role("button", name="Start over")).to_be_visible()
        found |= unfit(page, "resume")
        page.get_by_role("button", name="Start over").click()
        moves_on(page)
        assert state(page, "film.currentTime") < 15
        hold_the_countdown(page)
        page.get_by_label("Position").fill("38.5")
        expect(page.get_by_role("button", name="Stay here")).to_be_visible()
        found |= unfit(page, "upcoming")
        assert found == {}


@pytest.mark.browser("two taps become a gesture, not two clicks")
def test_a_double_tap_seeks_ten_seconds(chromium: Browser, ferry: Ferry, series):
    with chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True) as phone:
        visitor = Visitor(phone.new_page(), ferry.url, ferry)
        visitor.enter()
        page = playing(visitor, series, COPIED)
        page.keyboard.press("k")
        start = state(page, "film.currentTime")
        double_tap(page, 350, 400)
        until(page, f"Math.abs(film.currentTime - {start} - 10) < 0.3")


def test_a_film_that_cannot_be_streamed_says_why_and_offers_other_ways(alice, series):
    page = alice.page
    answer = {"kind": "none", "url": "", "progress": None, "reason": "It is gone."}
    page.route("**/hls/?in=*", lambda route: route.fulfill(json=answer))
    watch(alice, series.path, ENCODED)
    expect(page.get_by_role("alert")).to_contain_text("It is gone.")
    expect(page.get_by_role("link", name="Download the original")).to_be_visible()
    page.get_by_role("button", name="Play the MP4 copy").click()
    play = page.locator(".card").get_by_role("button", name="Play", exact=True)
    # Ferry makes copies in the background, so all other work on the machine goes first.
    play.click(timeout=PATIENCE_MS * 5)
    moves_on(page)


@pytest.mark.browser("which errors hls.js calls fatal")
def test_an_interrupted_film_is_requested_again(alice, series):
    page, polls = alice.page, []

    def segment(route):
        if len(polls) < 2:
            route.fulfill(status=404)
        else:
            route.continue_()

    page.route("**/*.m4s", segment)
    page.on("request", lambda request: "/hls/?in=" in request.url and polls.append(request.url))
    playing(alice, series, COPIED)
    assert len(polls) == 2


@pytest.mark.browser("how a video element reports a lost connection, and resumes")
def test_a_broken_download_of_the_file_resumes(alice, shelf):
    """The first half arrives; then the pending requests fail, and all later ones succeed."""
    folder, content = shelf.folder(), films.streamable().read_bytes()
    shelf.file(folder, TENTH, content)
    page, held, half = alice.page, [], len(content) // 2
    head = {"Content-Type": "video/mp4", "Content-Range": f"bytes 0-{half - 1}/{len(content)}"}

    def half_of_it(route):
        if route.request.headers["range"] == "bytes=0-":
            route.fulfill(status=206, headers=head, body=content[:half])
        else:
            held.append(route)

    answer = {"kind": "none", "url": "", "progress": None, "reason": "Nobody converts."}
    page.route("**/hls/?in=*", lambda route: route.fulfill(json=answer))
    page.route("**/raw/**", half_of_it)
    playing(alice, folder, TENTH)
    assert "/raw/" in state(page, "film.src")
    page.get_by_label("Position").fill("8")
    until(page, "film.currentTime > 8")
    state(page, "void (film.onemptied = () => (window.isAnew = true))")
    page.unroute("**/raw/**")
    for route in held:
        route.fulfill(status=503)
    until(page, "window.isAnew && film.readyState > 2")
    assert state(page, "film.currentTime") >= 8
    moves_on(page)


# Hostile subtitles, and accessibility

HOSTILE = (
    "Ahoi<script>window.ran = 1</script><img src=x onerror='window.ran = 1'> {\\an8}<b>there</b>"
)


@pytest.mark.browser("the browser's own parser makes no markup of hostile cues")
def test_words_beside_the_film_are_shown_as_words_and_nothing_else(alice, shelf, series):
    words = f"1\n00:00:00,500 --> 00:00:39,000\n{HOSTILE}\n"
    shelf.file(series, "Tide S01E01.de.srt", words.encode("utf-16"))
    page = playing(alice, series, COPIED)
    stir(page)
    page.get_by_role("button", name="Subtitles", exact=True).click()
    page.locator("#words-choices").get_by_role("button", name="Deutsch").click()
    expect(page.locator("#subtitles")).to_contain_text("Ahoi")
    assert page.locator("#subtitles :is(script, img)").count() == 0
    assert page.evaluate("window.ran") is None
    moves_on(page)


def tabbed_to(page: Page, name: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(NAME).startswith(name):
            return
    raise AssertionError(name)


@pytest.mark.browser("where Tab and Esc lead, and where the focus returns")
def test_by_keyboard_alone_from_the_listing_and_back(alice, series):
    page = alice.page
    alice.open(series.path)
    tabbed_to(page, COPIED)
    page.keyboard.press("Enter")
    page.wait_for_url("**/view/*")
    moves_on(page)
    tabbed_to(page, "Sound, quality, and more")
    page.keyboard.press("Enter")
    tabbed_to(page, "Deutsch")
    with page.expect_request("**/a2copy/**"):
        page.keyboard.press("Enter")
    until(page, "!film.seeking")
    moves_on(page)
    page.keyboard.press("k")
    until(page, "film.paused")
    page.keyboard.press("Escape")
    page.wait_for_url("**/#file-*")
    page.keyboard.press("Tab")
    row = page.evaluate("document.activeElement.closest(location.hash)?.textContent")
    assert COPIED in row


SLOWEST = """() => {
  const ms = (words) => parseFloat(words) * (words.endsWith("ms") ? 1 : 1000);
  const slowest = ({ transitionDuration, animationDuration }) =>
    Math.max(...`${transitionDuration}, ${animationDuration}`.split(", ").map(ms));
  const all = [...document.querySelectorAll("#viewer, #viewer *")];
  return Math.max(...all.map((each) => slowest(getComputedStyle(each))));
}"""


@pytest.mark.browser("computed durations of all transitions")
def test_nothing_moves_with_reduced_motion(alice, series):
    page = playing(alice, series, COPIED)
    assert page.evaluate(SLOWEST) > 50
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(SLOWEST) <= 1


@pytest.mark.browser("axe on the rendered cards")
def test_axe_finds_nothing_on_any_card(alice, series):
    page = alice.page
    page.emulate_media(reduced_motion="reduce")
    answer = {"kind": "none", "url": "", "progress": None, "reason": "It is gone."}
    page.route("**/hls/?in=*", lambda route: route.fulfill(json=answer))
    watch(alice, series.path, ENCODED)
    expect(page.get_by_role("alert")).to_be_visible()
    assert faults_of(page) == []
    page.unroute("**/hls/?in=*")
    answer |= {"kind": "converting", "progress": 40}
    page.route("**/hls/?in=*", lambda route: route.fulfill(json=answer))
    watch(alice, series.path, ENCODED)
    expect(page.locator(".card .pct")).to_have_text("40%")
    assert faults_of(page) == []
    page.unroute("**/hls/?in=*")
    playing(alice, series, COPIED)
    stop_at(page, 20)
    watch(alice, series.path, COPIED)
    expect(page.get_by_role("button", name="Start over")).to_be_visible()
    assert faults_of(page) == []
    page.get_by_role("button", name="Start over").click()
    moves_on(page)
    hold_the_countdown(page)
    page.get_by_label("Position").fill("38.5")
    expect(page.get_by_role("button", name="Stay here")).to_be_visible()
    assert faults_of(page) == []
