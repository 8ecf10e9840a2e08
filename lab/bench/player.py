"""Time from the click on a film in Files until it plays, in Chromium with the whole program."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

from lab.bench.harness import ROUNDS, Row
from tests.browser.chromium import ARGUMENTS
from tests.browser.people import Visitor
from tests.browser.shelf import Folder, Shelf
from tests.running import Ferry, running
from tests.service.media import samples
from tests.tools import program

SECONDS = 600
# Takes moments of both pages by one clock, and keeps the first where the next page finds it.
STOPWATCH = """
addEventListener("click", () => sessionStorage.setItem("clicked", Date.now()), true);
document.addEventListener("playing", () => (window.playingAt ??= Date.now()), true);
"""
PLAYING = """() => new Promise((resolve, reject) => {
    const late = Date.now() + 30_000;
    const look = () => {
        if (window.playingAt) resolve(window.playingAt - sessionStorage.getItem("clicked"));
        else if (Date.now() > late) reject(new Error("It never played"));
        else setTimeout(look, 10);
    };
    look();
})"""
SEEK = """at => new Promise((resolve) => {
    const film = document.querySelector("#film");
    const start = Date.now();
    film.addEventListener("playing", () => resolve(Date.now() - start), { once: true });
    film.currentTime = at;
})"""


def rows(home: Path) -> Iterator[Row]:
    with running(home / "player") as ferry, chromium() as browser:
        ferry.make_owner()
        shelf = Shelf(ferry)
        folder = shelf.folder()
        for name, film in films().items():
            shelf.file(folder, name, film.read_bytes())
        shelf.close()
        with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
            context.add_init_script(STOPWATCH)
            visitor = Visitor(context.new_page(), ferry.url, ferry)
            visitor.sign_in()
            for name, what, under in (("a.mkv", "copied", 0.35), ("b.avi", "encoded", 1.5)):
                yield from measured(visitor, folder, name, what, under)


def measured(visitor: Visitor, folder: Folder, name: str, what: str, under: float) -> Iterator[Row]:
    """Click once before, to make the index; then no round finds a segment that was made before."""
    clicked(visitor, folder, name)
    clicks = [clicked(visitor, folder, name) for _ in range(ROUNDS)]
    yield Row(f"click to playing, {what}", median(clicks), " s", under=under, raw={"s": clicks})
    seeks = [sought(visitor.page, at) for at in (200, 60, 250, 120, 160)]
    yield Row(f"seek to playing, {what}", median(seeks), " s", under=under, raw={"s": seeks})


def clicked(visitor: Visitor, folder: Folder, name: str) -> float:
    page = visitor.page
    visitor.open(folder.path)
    forget_segments(visitor.ferry)
    page.get_by_role("link", name=name).click()
    page.wait_for_url("**/view/*")
    return page.evaluate(PLAYING) / 1000


def sought(page: Page, at: int) -> float:
    return page.evaluate(SEEK, at) / 1000


def forget_segments(ferry: Ferry) -> None:
    for place in (ferry.data_dir / "media").glob("*/*/hls/*/*.m4s"):
        place.unlink()


def films() -> dict[str, Path]:
    """Make two films of SECONDS: one that is copied, and one that no browser plays."""
    source = samples.raw(SECONDS, "1280x720")
    long, other = samples.place("click.mkv"), samples.place("click.avi")
    samples.run(*source, *samples.X264, "-preset", "ultrafast", "-g", "50", *samples.AAC, str(long))
    samples.run("-i", str(long), "-c:v", "mpeg4", "-b:v", "4M", "-c:a", "ac3", str(other))
    return {"a.mkv": long, "b.avi": other}


@contextmanager
def chromium() -> Iterator[Browser]:
    executable = program("chromium", "chromium-browser", "google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()
