"""Make short films of each kind that the player meets, and wait for events in the player."""

import secrets
from functools import cache
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import waiting
from tests.browser.people import Visitor
from tests.service.media import samples

SECONDS = 40
# Few frames per second are cheaper to encode, send, and show.
RATE = 10
WORDS = "1\n00:00:00,500 --> 00:00:39,000\nLand in sight\n"


@cache
def copied() -> Path:
    """Return a film with two languages, subtitles, and video that Ferry copies."""
    words = samples.place("player.srt")
    words.write_text(WORDS)
    path = samples.place("player.mkv")
    tones = [f"sine={tone}:r=48000:d={SECONDS}" for tone in (440, 880)]
    samples.run(
        *("-f", "lavfi", "-i", f"testsrc2=s=1280x720:r={RATE}:d={SECONDS}"),
        *("-f", "lavfi", "-i", tones[0], "-f", "lavfi", "-i", tones[1], "-i", str(words)),
        *("-map", "0", "-map", "1", "-map", "2", "-map", "3", "-c:s", "srt"),
        *(*samples.X264, "-g", str(2 * RATE), "-bf", "1", *samples.AAC),
        *("-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu"),
        *("-metadata:s:s:0", "language=eng", str(path)),
    )
    return path


def unseen() -> Path:
    """Return the same film with new metadata, so that Ferry hasn't seen it before."""
    path = samples.place("player-unseen.mkv")
    title = f"title={secrets.token_hex(8)}"
    samples.run("-i", str(copied()), "-map", "0", "-c", "copy", "-metadata", title, str(path))
    return path


def encoded() -> Path:
    """Return a film that no browser plays."""
    words = ("-c:v", "mpeg4", "-q:v", "4", "-c:a", "ac3")
    return samples.film("player.avi", *words, seconds=SECONDS, rate=str(RATE))


def short() -> Path:
    words = (*samples.X264, "-g", str(RATE), *samples.AAC)
    return samples.film("player-short.mp4", *words, seconds=12, rate=str(RATE))


def streamable() -> Path:
    """Return a film that plays before all of it has arrived."""
    words = (*samples.X264, "-g", str(RATE), *samples.AAC, "-movflags", "+faststart")
    return samples.film("player-streamable.mp4", *words, seconds=SECONDS, rate=str(RATE))


def without_b_frames() -> Path:
    """Return a film whose first frame is at 0; WebKitGTK 2.50 sometimes stalls at a later one."""
    words = (*samples.X264, "-g", str(RATE), "-bf", "0", *samples.AAC)
    return samples.film("player-without-b-frames.mkv", *words, seconds=SECONDS, rate=str(RATE))


def state(page: Page, expression: str) -> object:
    return page.evaluate(
        f"() => {{ const film = document.querySelector('#film'); return {expression}; }}"
    )


def until(page: Page, condition: str) -> None:
    waiting.until(page, condition, state="[film.currentTime, film.readyState]")


def moves_on(page: Page, seconds: float = 0.5) -> None:
    start = state(page, "film.currentTime")
    until(page, f"!film.paused && film.currentTime > {start + seconds}")


def watch(visitor: Visitor, folder: str, name: str) -> None:
    """Open a film by a click in its listing: a page that no click led to may not start to play."""
    visitor.open(folder)
    visitor.page.get_by_title(name, exact=True).click()
    visitor.page.wait_for_url("**/view/*")
    wait_for_behaviour(visitor.page)


def wait_for_behaviour(page: Page) -> None:
    """Wait for the viewer's script. It runs after the page has loaded; earlier clicks are lost."""
    expect(page.locator("#viewer[data-mounted]")).to_be_attached()
