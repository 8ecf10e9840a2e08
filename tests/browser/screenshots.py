"""Takes README's pictures from the running program: `make screenshots`."""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import ARGUMENTS
from tests.browser.people import Visitor
from tests.running import BASE, running
from tests.tools import program

TARGET = BASE / "docs" / "screenshots"


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as ferry:
        ferry.make_owner("astrid")
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=program("chromium"), args=ARGUMENTS
            )
            page = chromium.new_page(viewport={"width": 1200, "height": 640})
            visitor = Visitor(page, ferry.url, ferry)
            visitor.sign_in("astrid")
            visitor.open("/account/")
            page.screenshot(path=TARGET / "account.png")
            chromium.close()


if __name__ == "__main__":
    main()
