"""One short journey in each of the other engines that people use."""

import base64
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.browser import films
from tests.browser.conftest import FAILURES, REPORT
from tests.browser.engines import Driver, firefox, webkit
from tests.browser.shelf import Folder, Shelf
from tests.running import PASSWORD, Ferry

pytestmark = pytest.mark.browser("Each engine has its own focus, dialogs, history, and players.")
DESK = 1024
PHONES = (320, 360, 390)
LONG = "Every photograph from the long summer by the sea, unsorted and without names"
COUNT = "document.querySelector('.selection-count').textContent.trim()"
LISTING = "!document.getElementById('overlay')"
FILM = "document.getElementById('film')"
STOP_AT_20 = """(() => {
  const form = document.getElementById("watching");
  const fields = new FormData(form);
  fields.set("at", 20);
  fields.set("of", 40);
  return navigator.sendBeacon(form.dataset.report, fields);
})()"""

# On a phone, the link to the parent folder is an arrow, and its label is out of sight.
OVERLAPS = """(() => {
  const up = document.getElementById("up");
  const label = document.createRange();
  label.selectNodeContents(up);
  const arrow = up.getBoundingClientRect();
  const others = { label, title: document.getElementById("title") };
  return Object.keys(others).filter((name) => {
    const { left, right, top, bottom } = others[name].getBoundingClientRect();
    return left < arrow.right && arrow.left < right && top < arrow.bottom && arrow.top < bottom;
  });
})()"""


@pytest.fixture(params=[firefox, webkit], ids=["firefox", "webkit"])
def driver(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Driver]:
    start: Callable[[Path], AbstractContextManager[Driver]] = request.param
    with start(tmp_path) as driver:
        yield driver
        report = request.node.stash.get(REPORT, None)
        if report is None or report.failed:
            FAILURES.mkdir(exist_ok=True)
            picture = FAILURES / f"{request.node.callspec.id}.png"
            picture.write_bytes(base64.b64decode(driver.screenshot()))


@pytest.fixture
def folder(shelf: Shelf) -> Folder:
    folder = shelf.folder()
    shelf.file(folder, "Notes.txt")
    shelf.file(folder, "Tide.mkv", films.without_b_frames().read_bytes())
    return folder


@pytest.mark.promise("the whole site works in WebKit", cases=["webkit"])
def test_a_journey(driver: Driver, ferry: Ferry, shelf: Shelf, folder: Folder):
    sign_in(driver, ferry)
    driver.resize(DESK)
    driver.open(ferry.url + folder.path)
    select_twice(driver)
    open_and_close_a_preview(driver)
    open_and_leave_a_dialog(driver)
    deep = shelf.folder("Deep", inside=shelf.folder(LONG, inside=folder))
    go_up_on_a_phone(driver, ferry.url + deep.path)
    driver.resize(DESK)
    add_a_link(driver, ferry)
    play_and_seek(driver, ferry.url + folder.path)


@pytest.mark.browser("WebKit itself decides whether it uses a proxy.")
def test_webkit_takes_the_proxy_from_its_environment(tmp_path: Path):
    """WebKit reads the proxy with a module of GLib, which a machine may lack."""
    with webkit(tmp_path) as driver, socket.create_server(("127.0.0.2", 0)) as listener:
        driver.open(f"http://127.0.0.2:{listener.getsockname()[1]}/")
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


def sign_in(driver: Driver, ferry: Ferry) -> None:
    driver.open(f"{ferry.url}/signin/")
    driver.click("[name=username]")
    driver.type("alice")
    driver.click("[name=password]")
    driver.type(PASSWORD)
    driver.press("Enter")
    driver.until("location.pathname === '/' && document.readyState === 'complete'")


def select_twice(driver: Driver) -> None:
    for _ in range(2):
        driver.click("#listing tbody .hit")
        driver.until(f"{COUNT}.startsWith('1 selected')")
        driver.press("Escape")
        driver.until("!document.querySelector('.chosen, .tick:checked')")


def open_and_close_a_preview(driver: Driver) -> None:
    open_a_preview(driver)
    driver.press("Escape")
    driver.until(f"{LISTING} && document.activeElement.textContent.includes('Notes')")
    open_a_preview(driver)
    driver.click("#overlay [popovertarget=viewer-menu]")
    driver.until("document.getElementById('viewer-menu').matches(':popover-open')")
    driver.evaluate("history.back()")
    driver.until(LISTING)


def open_a_preview(driver: Driver) -> None:
    driver.click("#listing .entry:not([data-page])")
    driver.until("document.querySelector('#overlay[open] #viewer') !== null")


def open_and_leave_a_dialog(driver: Driver) -> None:
    driver.type("?")
    driver.until("document.getElementById('keys').open")
    driver.click("#keys h2")
    assert driver.evaluate("document.getElementById('keys').open")
    driver.click_at(5, 5)
    driver.until("!document.getElementById('keys').open")


def go_up_on_a_phone(driver: Driver, url: str) -> None:
    driver.open(url)
    for width in PHONES:
        driver.resize(width)
        assert driver.evaluate(OVERLAPS) == [], width


def add_a_link(driver: Driver, ferry: Ferry) -> None:
    name = f"Tide {secrets.token_hex(4)}"
    driver.open(f"{ferry.url}/add/")
    driver.click("#omni")
    driver.type(f"magnet:?xt=urn:btih:{secrets.token_hex(20)}&dn={name.replace(' ', '+')}")
    driver.click("#send [type=submit]")
    driver.until("document.getElementById('results-summary').textContent.trim() !== ''")
    driver.open(f"{ferry.url}/transfers/")
    driver.until(f"document.getElementById('transfers').textContent.includes('{name}')")


def play_and_seek(driver: Driver, url: str) -> None:
    driver.open(url)
    driver.click("#listing .entry[data-page]")
    press_play(driver)
    moves_on(driver, 0)
    driver.click("#position", across=0.75)
    moves_on(driver, 0.7 * films.SECONDS)


def press_play(driver: Driver) -> None:
    """Start the film; browsers may refuse to play sound before a click on the page."""
    driver.until(f"{FILM}?.buffered.length > 0 && ({FILM}.paused || {FILM}.currentTime > 0)")
    if driver.evaluate(f"{FILM}.paused"):
        driver.click("#controls [data-do=toggle]")


def moves_on(driver: Driver, seconds: float) -> None:
    """Wait until the film plays beyond this position."""
    driver.until(f"{FILM} && !{FILM}.seeking && {FILM}.currentTime > {seconds}")
    start = driver.evaluate(f"{FILM}.currentTime")
    driver.until(f"!{FILM}.paused && {FILM}.currentTime > {start + 0.5}")


@pytest.mark.browser("Only WebKit plays HLS itself, and it does so in its own way.")
def test_webkit_resumes_and_seeks_in_hls_that_it_plays_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ferry: Ferry, folder: Folder
):
    """WebKitGTK plays HLS only if asked, and has no AirPlay, so take away what hls.js needs."""
    monkeypatch.setenv("WEBKIT_GST_ENABLE_HLS_SUPPORT", "1")
    with webkit(tmp_path) as driver:
        sign_in(driver, ferry)
        driver.open(ferry.url + folder.path)
        driver.click("#listing .entry[data-page]")
        driver.until(f"{FILM} && document.getElementById('viewer').dataset.mounted !== undefined")
        driver.evaluate(STOP_AT_20)
        driver.open(driver.evaluate("location.href"))
        driver.until("document.getElementById('viewer').dataset.mounted !== undefined")
        driver.evaluate("delete window.MediaSource, delete window.ManagedMediaSource")
        driver.click("[data-do=resume]")
        driver.until(f"{FILM}.src.endsWith('.m3u8')")
        moves_on(driver, 19)
        assert driver.evaluate(f"{FILM}.duration") == pytest.approx(films.SECONDS, abs=0.5)
        driver.click("#position", across=0.75)
        moves_on(driver, 0.7 * films.SECONDS)
