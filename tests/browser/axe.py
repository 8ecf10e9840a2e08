"""What axe-core finds on a page."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.looks import dressed

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()


def violations(page: Page) -> list[str]:
    dressed(page)
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]
