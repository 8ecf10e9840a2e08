"""Take the pictures of README and of the web app manifest from the running program:
`make screenshots`."""

import io
import math
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import ARGUMENTS
from tests.browser.people import Visitor
from tests.browser.shelf import Shelf
from tests.running import BASE, Ferry, running
from tests.service.media import samples
from tests.swarm import Seeder, seeder, torrent
from tests.tools import program

TARGET = BASE / "docs" / "screenshots"
ICONS = BASE / "static" / "icons"
SEA = "#0b4f66"
FILM = "Sintel.2010.2160p.mkv"
# The horizon, the sky above it, and the sea.
COLORS = {
    FILM: ("#f3b27a", "#20415f", "#16323f"),
    "Tears.of.Steel.2012.1080p.BluRay.mkv": ("#d9e4ea", "#5d86a5", "#35586d"),
    "The.General.1926.Restored.1080p.mkv": ("#e4e1da", "#85827b", "#4a4844"),
    "Poster, fjord at noon.jpg": ("#dff0f2", "#3f8fb5", "#1b5f78"),
    "Spring/Spring.2019.2160p.mkv": ("#f6d9c4", "#7f9c6b", "#3d5c45"),
}
FILES = {
    "Sintel.2010.2160p.en.srt": 4_100,
    "Making of Sintel.pdf": 62_000,
    "Score, stems and reference mixes.zip": 61_200,
}
ARRIVING = {"Cosmos Laundromat 2015": 5_400_000, "Big Buck Bunny 2008 1080p.mkv": 8_200_000}
BYTES_PER_SECOND = 400_000


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with served() as (ferry, seeds), sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program("chromium"), args=ARGUMENTS)
        with looking(chromium, ferry, 1200, 680) as alice:
            alice.open("/")
            take(alice.page, "files")
            play(alice)
            take(alice.page, "player")
            add_torrents(alice, seeds)
            take(alice.page, "transfers")
            alice.open("/search/?q=sintel")
            take(alice.page, "search")
            share(alice)
            take(alice.page, "share")
        with looking(chromium, ferry, 390, 760) as alice:
            alice.open("/")
            take(alice.page, "files-phone")
        for form, width, height in (("narrow", 390, 760), ("wide", 1200, 680)):
            with looking(chromium, ferry, width, height, scale=1) as alice:
                for screen, path in (("files", "/"), ("transfers", "/transfers/")):
                    alice.open(path)
                    take_for_manifest(alice.page, f"{screen}-{form}")
        draw_shortcut(chromium, "plus", "add")
        draw_shortcut(chromium, "arrow-down-up", "transfers")
        chromium.close()


@contextmanager
def served() -> Iterator[tuple[Ferry, Seeder]]:
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), TORRENT_NETWORK="loopback") as ferry,
        seeder(upload_rate_limit=BYTES_PER_SECOND) as seeds,
    ):
        ferry.make_owner()
        with closing(Shelf(ferry)) as shelf:
            fill(shelf)
        yield ferry, seeds


@contextmanager
def looking(
    chromium: Browser, ferry: Ferry, width: int, height: int, scale: int = 2
) -> Iterator[Visitor]:
    page = chromium.new_page(viewport={"width": width, "height": height}, device_scale_factor=scale)
    alice = Visitor(page, ferry.url, ferry)
    alice.bring_session()
    yield alice
    page.context.close()


def fill(shelf: Shelf) -> None:
    spring = shelf.folder("Spring")
    root = replace(spring, upload_path="/files/0/upload/")
    for name, size_bytes in FILES.items():
        shelf.file(root, name, bytes(size_bytes))
    for path in COLORS:
        _folder, slash, name = path.rpartition("/")
        scene = picture_of(path) if name.endswith(".jpg") else film_of(path)
        shelf.file(spring if slash else root, name, scene)


def play(alice: Visitor) -> None:
    alice.page.get_by_title(FILM, exact=True).click()
    video = alice.page.locator("video")
    expect(video).to_have_js_property("readyState", 4)
    video.evaluate("each => { each.pause(); each.currentTime = 217; }")
    alice.page.locator("#stage").hover()


def add_torrents(alice: Visitor, seeds: Seeder) -> None:
    with tempfile.TemporaryDirectory() as given:
        links = []
        for name, size_bytes in ARRIVING.items():
            made = torrent(name, name.encode() * (size_bytes // len(name)), piece_bytes=2**18)
            seeds.give(made, Path(given))
            links.append(made.magnet(peer=seeds.address))
        alice.open("/transfers/")
        alice.page.get_by_role("textbox").fill("\n".join(links))
        alice.page.get_by_role("button", name="Add", exact=True).click()
        alice.page.get_by_label("Dismiss").click()
        expect(alice.page.locator(".transfer-pct").nth(1)).to_contain_text("2", timeout=60_000)


def share(alice: Visitor) -> None:
    page = alice.page
    alice.open("/")
    page.get_by_role("button", name="Actions for Spring").click()
    page.locator("#entry-menu").get_by_text("Share", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Share Spring")


def take(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=256).save(
        TARGET / f"{name}.png", optimize=True
    )


def take_for_manifest(page: Page, name: str) -> None:
    page.wait_for_load_state("networkidle")
    Image.open(io.BytesIO(page.screenshot())).save(ICONS / f"{name}.webp", quality=80, method=6)


def draw_shortcut(chromium: Browser, symbol: str, name: str) -> None:
    """Draw an icon of static/icons.svg in white on Ferry's color."""
    page = chromium.new_page(viewport={"width": 96, "height": 96})
    symbols = (BASE / "static" / "icons.svg").read_text()
    page.set_content(
        f"<body style='margin: 0; background: {SEA}'><div hidden>{symbols}</div>"
        "<svg width=96 height=96 viewBox='-12 -12 48 48' fill=none stroke=white stroke-width=2"
        " stroke-linecap=round stroke-linejoin=round>"
        f"<use href='#{symbol}' width=24 height=24></use></svg>"
    )
    page.screenshot(path=ICONS / f"{name}-96.png")
    page.close()


# Scenes


@cache
def scene(horizon: str, sky: str, sea: str) -> Image.Image:
    """Draw a coast: the sky, three ranges of mountains, and the sea."""
    width, height = 1280, 720
    line = height * 5 // 8
    image = Image.new("RGB", (width, height), sky)
    draw = ImageDraw.Draw(image)
    for y in range(height):
        above = min(y / line, 1.0)
        color = blend(sky, horizon, above) if y < line else blend(horizon, sea, (y - line) / 90)
        draw.line([(0, y), (width, y)], fill=color)
    draw.ellipse([860, line - 150, 940, line - 70], fill=blend(horizon, "#ffffff", 0.6))
    for depth in range(3):
        steps = range(0, width + 8, 8)
        tops = [(x, line - ridge(x, depth) * (110 - 30 * depth)) for x in steps]
        shade = blend(horizon, sea, 0.35 + 0.3 * depth)
        draw.polygon([(0, line), *tops, (width, line)], fill=shade)
    return image.filter(ImageFilter.SMOOTH)


def ridge(x: float, depth: int) -> float:
    waves = [math.sin(x / (210 / (n + 1)) + depth * 2.1 + n) / (n + 1) for n in range(5)]
    return max(0.12, 0.75 + 0.5 * sum(waves))


def blend(first: str, second: str, share: float) -> tuple[int, ...]:
    share = max(0.0, min(share, 1.0))
    one, other = (tuple(bytes.fromhex(color[1:])) for color in (first, second))
    return tuple(round(a + (b - a) * share) for a, b in zip(one, other, strict=True))


def picture_of(path: str) -> bytes:
    return samples.saved(scene(*COLORS[path]), "JPEG")


def film_of(path: str) -> bytes:
    still = samples.place("scene.png")
    scene(*COLORS[path]).save(still)
    picture = ("-loop", "1", "-framerate", "2", "-t", "888", "-i", str(still))
    silence = ("-f", "lavfi", "-t", "888", "-i", "anullsrc=r=48000")
    return samples.written("mkv", *picture, *silence, *samples.X264, "-g", "20", *samples.AAC)


if __name__ == "__main__":
    main()
