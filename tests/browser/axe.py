"""Run axe-core on a page, and report what it finds."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.looks import dressed

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
# Ask only for violations: the whole result is a hundred times as long, mostly of passed checks. And
# preload no styles: axe would fetch all of them again, for experimental rules that are off.
FOUND = """async () => {
  const options = { resultTypes: ["violations"], preload: { assets: ["media"] } };
  const { violations } = await axe.run(document, options);
  const lines = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`);
  return violations.flatMap(lines);
}"""


def violations(page: Page) -> list[str]:
    dressed(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return page.evaluate(FOUND)


def violations_in_both_schemes(page: Page) -> list[str]:
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {each}" for each in violations(page)]
    return found


def faults_of(page: Page) -> list[str]:
    """Return what axe finds, and a line if the page scrolls sideways."""
    return violations_in_both_schemes(page) + too_wide(page)


def faults_at(page: Page, *widths: int) -> list[str]:
    """Return the faults of a page in windows of these widths."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}, {each}" for each in faults_of(page)]
    return found


def too_wide(page: Page) -> list[str]:
    """Return a line if the page would scroll sideways."""
    wide, width = page.evaluate("document.documentElement.scrollWidth"), page.viewport_size["width"]
    return [f"{wide} pixels wide in a window of {width}"] if wide > width else []
