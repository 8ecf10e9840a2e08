"""Music: a click plays it, and it plays on while a person browses."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at, too_wide
from tests.browser.looks import FIRST_DISPLAY
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.browser.sounds import BROKEN, sound
from tests.browser.waiting import hold, until
from tests.service.media.samples import written

pytestmark = pytest.mark.browser("that sound plays on while pages change, and its media session")
SERVICE_WORKERS = "block"
AT = "document.querySelector('#sound').currentTime"
TAGS = ("-metadata", "title=Drift Ice", "-metadata", "artist=Ása", "-metadata", "album=Fjord")


@pytest.fixture(scope="module")
def album(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "1 short.wav", sound(1.5))
    shelf.file(folder, "2 long.wav", sound(60))
    shelf.file(folder, "3 tagged.mp3", written("mp3", "-f", "lavfi", "-i", "sine=d=60", *TAGS))
    shelf.file(folder, "4 last.wav", sound(60))
    return folder


def click_track(visitor: Visitor, album: Folder, name: str) -> Locator:
    visitor.open(album.path)
    visitor.page.locator(f'#listing .entry:has([title="{name}"])').click()
    expect(visitor.page.locator("#viewer[data-mounted]")).to_be_attached()
    return visitor.page.locator("#viewer")


def plays(page: Page, after: float = 0) -> None:
    until(page, f"{AT} > {after} && !document.querySelector('#sound').paused")


def browse(page: Page, place: str) -> Locator:
    """Go to another page, and return the music region; its audio may not have loaded yet."""
    link = page.get_by_role("navigation", name="Main").get_by_role("link", name=place)
    link.click()
    expect(link).to_have_attribute("aria-current", "page")
    return page.get_by_role("region", name="Music")


def title(page: Page) -> str:
    return page.evaluate("navigator.mediaSession.metadata.title")


def test_a_click_on_a_track_plays_it_and_the_next_ones_follow(alice, album):
    page = alice.page
    viewer = click_track(alice, album, "1 short.wav")
    plays(page)
    expect(viewer.locator("h1")).to_have_text("2 long.wav")
    plays(page)
    expect(viewer.get_by_role("button", name="Pause")).to_be_visible()
    assert title(page) == "2 long"
    expect(viewer.locator(".queue [aria-current] time")).to_have_text("1:00")
    page.keyboard.press("l")
    until(page, f"{AT} > 10")
    page.keyboard.press(" ")
    expect(viewer.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.keyboard.press(" ")
    plays(page, 10)
    viewer.locator(".queue").get_by_text("4 last").click()
    expect(viewer.locator("h1")).to_have_text("4 last.wav")
    plays(page)
    expect(viewer.get_by_role("button", name="Next track")).to_be_disabled()


@pytest.mark.journey
def test_music_plays_on_while_you_browse(alice, album):
    page = alice.page
    click_track(alice, album, "2 long.wav")
    plays(page)
    page.keyboard.press("l")
    until(page, f"{AT} > 10")
    page.locator("#back").click()
    expect(page.locator("#overlay")).to_have_count(0)
    bar = page.get_by_role("region", name="Music")
    expect(bar).to_contain_text("2 long")
    plays(page, 10)
    for place in ("Transfers", "Account", "Files"):
        page.get_by_role("navigation", name="Main").get_by_role("link", name=place).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(bar).to_contain_text("2 long")
        plays(page, 10)
    bar.get_by_role("button", name="Pause").click()
    expect(bar.get_by_role("button", name="Play")).to_be_visible()
    bar.get_by_role("button", name="Next track").click()
    expect(bar).to_contain_text("Drift Ice")
    bar.get_by_role("link").click()
    expect(page.locator("#viewer h1")).to_have_text("3 tagged.mp3")
    expect(bar).to_have_count(0)
    page.locator("#back").click()
    bar.get_by_role("button", name="Stop music").click()
    expect(bar).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('ferry-music')") is None
    assert page.evaluate("navigator.mediaSession.metadata") is None


def test_title_artist_and_album_come_from_the_tags(alice, album):
    viewer = click_track(alice, album, "3 tagged.mp3")
    expect(viewer.locator(".audio h2")).to_have_text("Drift Ice")
    expect(viewer.locator(".by")).to_have_text("Ása · Fjord")
    metadata = (
        "[navigator.mediaSession.metadata].map(each => [each.title, each.artist, each.album])[0]"
    )
    assert alice.page.evaluate(metadata) == ["Drift Ice", "Ása", "Fjord"]


def test_listeners_choose_order_volume_and_speed(alice, album):
    page = alice.page
    viewer = click_track(alice, album, "2 long.wav")
    plays(page)
    viewer.get_by_label("Volume").fill("0.3")
    viewer.get_by_role("button", name="Speed").click()
    assert page.evaluate("document.querySelector('#sound').playbackRate") == 1.25
    viewer.get_by_role("button", name="Shuffle").click()
    viewer.get_by_role("button", name="Repeat: off").click()
    viewer.get_by_role("button", name="Repeat: all tracks").click()
    expect(viewer.get_by_role("button", name="Repeat: this track")).to_be_visible()
    viewer = click_track(alice, album, "1 short.wav")
    assert page.evaluate("document.querySelector('#sound').volume") == 0.3
    expect(viewer.get_by_role("button", name="Shuffle")).to_have_attribute("aria-pressed", "true")
    plays(page, 1)
    until(page, f"{AT} < 1")
    expect(viewer.locator("h1")).to_have_text("1 short.wav")
    viewer.get_by_role("button", name="Repeat: this track").click()
    viewer.get_by_role("button", name="Shuffle").click()


def test_nothing_of_the_music_is_left_after_signing_out(page, ferry, album):
    someone = Visitor(page, ferry.url, ferry)
    someone.open("/signin/")
    someone.sign_in()
    click_track(someone, album, "2 long.wav")
    plays(someone.page)
    someone.open("/account/")
    expect(someone.page.get_by_role("region", name="Music")).to_be_visible()
    someone.page.get_by_role("button", name="Sign out").first.click()
    expect(someone.page).to_have_url(re.compile("/signin/"))
    assert someone.page.evaluate("sessionStorage.getItem('ferry-music')") is None


@pytest.mark.browser("how the bar is displayed at the moment it appears")
def test_the_bar_is_hidden_until_its_styles_arrive(alice, album):
    page = alice.page
    click_track(alice, album, "3 tagged.mp3")
    plays(page)
    page.evaluate(FIRST_DISPLAY, "music")
    page.locator("#back").click()
    expect(page.get_by_role("region", name="Music")).to_be_visible()
    assert page.evaluate("window.firstDisplay") == "none"


@pytest.mark.browser("axe, layout, and what the bar covers")
def test_the_bar_and_the_page_of_a_track_fit_and_cover_nothing(alice, album):
    page = alice.page
    click_track(alice, album, "3 tagged.mp3")
    plays(page)
    assert faults_at(page, 320, 390, 1440) == []
    page.locator("#back").click()
    bar = page.get_by_role("region", name="Music")
    expect(bar).to_be_visible()
    for width in (320, 390, 1440):
        assert faults_at(page, width) == []
        assert too_wide(page) == []
        page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
        last = page.locator("#listing .entry").last.bounding_box()
        assert last["y"] + last["height"] <= bar.bounding_box()["y"]


@pytest.mark.browser("a dialog over an overlay, and axe on it")
def test_the_keys_of_music_are_shown_over_the_listing(alice, album):
    page = alice.page
    click_track(alice, album, "2 long.wav")
    plays(page)
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Shortcuts")
    expect(keys).to_contain_text("Back or forward 10 seconds")
    expect(keys).to_contain_text("Shuffle")
    assert faults_at(page, 1440, 390) == []
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(page.locator("#overlay")).to_be_visible()
    plays(page)


def left_ten_seconds_in(alice, album):
    """Play ten seconds of a long track and leave its page; what sounds next is held back."""
    page = alice.page
    click_track(alice, album, "2 long.wav")
    plays(page)
    page.keyboard.press("l")
    until(page, f"{AT} > 10")
    page.locator("#back").click()
    hold(page, "**/raw/**")
    return page


@pytest.mark.browser("what a sound without metadata keeps as its position")
def test_leaving_a_page_before_the_sound_starts_keeps_the_position(alice, album):
    page = left_ten_seconds_in(alice, album)
    for place in ("Transfers", "Account"):
        expect(browse(page, place)).to_contain_text("2 long")
        until(page, f"{AT} > 10")
    page.unroute("**/raw/**")
    plays(page, 10.5)


@pytest.mark.browser("that browsers keep the start position for the next source")
def test_the_next_track_starts_at_its_beginning(alice, album):
    page = left_ten_seconds_in(alice, album)
    bar = browse(page, "Transfers")
    until(page, "document.querySelector('#sound')")
    for name in ("3 tagged", "4 last"):
        bar.get_by_role("button", name="Next track").click()
        expect(bar.get_by_role("link")).to_contain_text(re.compile(f"{name}|Drift Ice"))
    page.unroute("**/raw/**")
    until(page, "document.querySelector('#sound').readyState > 0")
    assert page.evaluate(AT) < 5


STEP_AS_THE_NEXT_PAGE_COMES = r"""async () => {
  const loaded = performance.getEntriesByType("resource").map(({ name }) => name);
  const music = await import(loaded.find((name) => /\/music\/music[.\w]*\.js/.test(name)));
  const observer = new MutationObserver(() => {
    if (document.querySelector("#viewer h1")?.title !== "3 tagged.mp3") return;
    observer.disconnect();
    music.step(1);
  });
  observer.observe(document.body, { childList: true, subtree: true });
}"""


@pytest.mark.browser("a track that changes while a page loads")
def test_the_page_follows_a_track_that_ends_while_its_page_loads(alice, album):
    page = alice.page
    viewer = click_track(alice, album, "2 long.wav")
    plays(page)
    page.evaluate(STEP_AS_THE_NEXT_PAGE_COMES)
    viewer.get_by_role("button", name="Next track").click()
    expect(viewer.locator("h1")).to_have_text("4 last.wav")
    plays(page)
    assert title(page) == "4 last"


@pytest.fixture(scope="module")
def damaged(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "1 broken.mp3", BROKEN)
    shelf.file(folder, "2 broken.wav", BROKEN)
    shelf.file(folder, "3 fine.wav", sound(60))
    shelf.file(folder, "4 broken.ogg", BROKEN)
    return folder


@pytest.mark.browser("how a real audio element fails, and axe on what the page says then")
def test_music_continues_past_tracks_that_cannot_be_played(alice, damaged):
    page = alice.page
    viewer = click_track(alice, damaged, "1 broken.mp3")
    expect(viewer.locator("h1")).to_have_text("3 fine.wav")
    plays(page)
    expect(viewer.get_by_role("status")).to_have_text(re.compile("2 broken.* can't be played"))
    assert faults_at(page, 320, 1440) == []
    page.locator("#back").click()
    bar = page.get_by_role("region", name="Music")
    expect(bar.get_by_role("status")).to_have_text(re.compile("2 broken.* can't be played"))
    assert faults_at(page, 320, 390, 1440) == []
    page.evaluate(f"{AT} = 59.5")
    expect(bar.get_by_role("status")).to_have_text(re.compile("4 broken.* can't be played"))
    expect(bar.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.browser("how a real audio element reports a lost connection")
def test_music_waits_for_ferry_and_not_for_the_end_of_the_album(alice, album, troubles):
    page = alice.page
    click_track(alice, album, "2 long.wav")
    plays(page)
    page.locator("#back").click()
    bar = page.get_by_role("region", name="Music")
    page.route("**/raw/**", lambda route: route.abort("connectionrefused"))
    bar.get_by_role("button", name="Next track").click()
    expect(bar.get_by_role("status")).to_contain_text("can't be played")
    expect(bar.get_by_role("button", name="Play")).to_be_visible()
    expect(bar.get_by_role("link")).to_contain_text(re.compile("3 tagged|Drift Ice"))
    page.unroute("**/raw/**")
    bar.get_by_role("button", name="Play").click()
    plays(page)
    expect(bar.get_by_role("status")).to_be_empty()
    troubles.clear()


@pytest.mark.browser("where the focus goes when a button is disabled or removed")
def test_no_button_of_the_music_loses_the_focus(alice, album):
    page = alice.page
    viewer = click_track(alice, album, "3 tagged.mp3")
    plays(page)
    viewer.get_by_role("button", name="Next track").focus()
    page.keyboard.press("Enter")
    expect(viewer.locator("h1")).to_have_text("4 last.wav")
    expect(viewer.get_by_role("button", name="Next track")).to_be_disabled()
    expect(viewer.get_by_role("button", name="Next track")).to_be_focused()
    page.keyboard.press("Enter")
    # Later than three seconds in, the button would only start the track over.
    page.locator("#sound").evaluate("(sound) => { sound.pause(); sound.currentTime = 0; }")
    viewer.get_by_role("button", name="Previous track").click()
    expect(viewer.locator("h1")).to_have_text("3 tagged.mp3")
    page.locator("#back").click()
    bar = page.get_by_role("region", name="Music")
    bar.get_by_role("button", name="Next track").focus()
    page.keyboard.press("Enter")
    expect(bar).to_contain_text("4 last")
    expect(bar.get_by_role("button", name="Next track")).to_be_disabled()
    expect(bar.get_by_role("button", name="Next track")).to_be_focused()
    bar.get_by_role("button", name="Stop music").focus()
    page.keyboard.press("Enter")
    expect(bar).to_have_count(0)
    expect(page.get_by_role("main")).to_be_focused()
