"""Take README's pictures from the running program: `make screenshots`."""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS
from tests.browser.people import Visitor
from tests.browser.shelf import Shelf
from tests.running import BASE, running
from tests.tools import program

TARGET = BASE / "docs" / "screenshots"


FOLDERS = ("Big Buck Bunny", "Cosmos Laundromat", "Spring")
FILES = {
    "Sintel.2010.2160p.mkv": 98_400,
    "Sintel.2010.2160p.en.srt": 4_100,
    "Tears.of.Steel.2012.1080p.BluRay.mkv": 410_000,
    "The.General.1926.Restored.1080p.mkv": 740_000,
    "Making of Sintel.pdf": 62_000,
    "Poster, fjord at noon.jpg": 38_000,
    "Score, stems and reference mixes.zip": 61_200,
}


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as ferry:
        ferry.make_owner()
        fill(Shelf(ferry))
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=program("chromium"), args=ARGUMENTS
            )
            for name, width, height in (("files", 1200, 620), ("files-phone", 390, 760)):
                page = chromium.new_page(viewport={"width": width, "height": height})
                Visitor(page, ferry.url, ferry).sign_in()
                page.screenshot(path=TARGET / f"{name}.png")
                page.context.close()
            chromium.close()


def fill(shelf: Shelf) -> None:
    with closing(shelf):
        films = [shelf.folder(name) for name in FOLDERS]
        root = replace(films[0], upload_path="/files/0/upload/")
        for name, size_bytes in FILES.items():
            shelf.file(root, name, bytes(size_bytes))


if __name__ == "__main__":
    main()
