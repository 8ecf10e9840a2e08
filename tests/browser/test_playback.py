"""Films in a real browser: a bare page with hls.js, under the policy of the player."""

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route

from tests.browser import films, waiting
from tests.browser.films import SECONDS
from tests.browser.shelf import Shelf
from tests.running import Ferry
from tests.service.media.waiting import wait_until

pytestmark = pytest.mark.browser("what hls.js and the decoder make of the service's streams")
BARE = Path(__file__).parent / "bare"
POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; "
    "media-src 'self' blob:"
)
EMAIL, PASSWORD = "ferry@localhost", "a quiet harbour at noon"


@pytest.fixture(scope="module")
def service(ferry: Ferry) -> Iterator[httpx.Client]:
    account = (EMAIL, PASSWORD)
    with httpx.Client(base_url=ferry.url, auth=account, trust_env=False, timeout=60) as client:
        ferry.say("account", "password", EMAIL, words=f"{PASSWORD}\n")
        yield client


@pytest.fixture
def playlist(service: httpx.Client, shelf: Shelf) -> str:
    """Return the path of the master playlist of a film of which nothing has been converted."""
    folder = shelf.folder()
    shelf.file(folder, "Unseen.mkv", films.unseen().read_bytes())
    listing = service.get("/rest/folder").json()
    found = next(each["id"] for each in listing["folders"] if each["name"] == folder.name)
    (file,) = service.get(f"/rest/folder/{found}").json()["files"]
    answer = service.get(f"/rest/file/{file['id']}/hls")
    assert answer.status_code == 200, answer.text
    return urlsplit(answer.json()["url"]).path


def giving(name: str, content_type: str) -> Callable[[Route], None]:
    headers = {"Content-Type": content_type, "Content-Security-Policy": POLICY}
    return lambda route: route.fulfill(body=(BARE / name).read_text(), headers=headers)


def opened(page: Page, ferry: Ferry, playlist: str) -> None:
    for name, content_type in (("player.html", "text/html"), ("player.js", "text/javascript")):
        page.route(re.compile(rf"/bare/{name}"), giving(name, content_type))
    page.goto(f"{ferry.url}/bare/player.html?from={quote(playlist)}")
    until(page, "window.video && video.readyState >= 3")
    page.evaluate("video.play()")
    moves_on(page)


@pytest.fixture
def player(page: Page, ferry: Ferry, playlist: str) -> Iterator[Page]:
    opened(page, ferry, playlist)
    yield page
    assert page.evaluate("seen.fatal") == []


def until(page: Page, condition: str) -> None:
    state = "[video.currentTime, video.readyState, seen.fatal]"
    waiting.until(page, condition, state=state)


def moves_on(page: Page, seconds: float = 0.5) -> None:
    start = page.evaluate("video.currentTime")
    until(page, f"video.currentTime > {start + seconds}")


def test_playback_continues_after_any_seek_and_ends_at_the_end(player):
    assert player.evaluate("video.duration") == pytest.approx(SECONDS, abs=0.2)
    for at in (31.4, 2.7, 23.9, 9.2, 34.8):
        player.evaluate(f"video.currentTime = {at}")
        until(player, "!video.seeking")
        moves_on(player)
    player.evaluate("video.currentTime = video.duration - 2")
    until(player, "video.ended")
    assert player.evaluate("video.currentTime") == pytest.approx(SECONDS, abs=0.2)


@pytest.mark.browser("that the viewer of a killed converter sees no failure")
def test_a_killed_converter_is_replaced_unnoticed(player, ferry):
    player.evaluate("video.currentTime = 4; hls.currentLevel = 0")
    wait_until(lambda: kill(encoders(ferry)))
    until(player, "video.videoHeight === 480 && !video.seeking")
    moves_on(player)
    player.evaluate("video.currentTime = 30")
    until(player, "!video.seeking")
    moves_on(player)


@pytest.mark.browser("that two real players are served by one converter")
def test_two_viewers_share_one_converter(
    player: Page, chromium: Browser, ferry: Ferry, playlist: str
):
    with chromium.new_context() as context:
        other = second_viewer(context, ferry, playlist)
        for page in (player, other):
            page.evaluate("video.currentTime = 20; hls.currentLevel = 0")
        most = []
        for page in (player, other):
            until(page, "video.videoHeight === 480")
            # The encoder of an earlier film may stay for a while.
            most += Counter(encoders(ferry).values()).values()
        assert max(most, default=0) <= 1
        assert other.evaluate("seen.fatal") == []
    wait_until(lambda: not encoders(ferry), seconds=120)


def second_viewer(context: BrowserContext, ferry: Ferry, playlist: str) -> Page:
    page = context.new_page()
    opened(page, ferry, playlist)
    return page


def kill(found: Iterable[int]) -> bool:
    """Kill the first process that still runs; return whether there was one."""
    for each in found:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
            return True
    return False


def encoders(ferry: Ferry) -> dict[int, tuple[bytes, bytes]]:
    """Return the processes that encode video for this Ferry, each with its film and size."""
    place, found = str(ferry.data_dir).encode(), {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        film = re.search(rb"file:(%b[^\0]*)" % re.escape(place), words)
        size = re.search(rb"scale=(\d+:\d+)", words)
        if b"\0libx264\0" in words and film and size:
            found[int(process.name)] = film[1], size[1]
    return found
