"""What axe-core finds on a page."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.looks import dressed

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
# The dark scheme differs from the light one in nothing but colors.
COLOR_RULES = ["color-contrast", "link-in-text-block"]
# axe's whole result is a hundred times as long: most of it is what axe found in order. It would
# also fetch all styles again, for rules that are experimental and off.
FOUND = """async (rules) => {
  const options = { resultTypes: ["violations"], preload: { assets: ["media"] } };
  const { violations } = await axe.run(document, rules ? { ...options, runOnly: rules } : options);
  const lines = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`);
  return violations.flatMap(lines);
}"""


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """Return what axe finds: by all its rules, unless some are given."""
    dressed(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return page.evaluate(FOUND, rules)


def violations_in_both_schemes(page: Page) -> list[str]:
    found = []
    for scheme, rules in (("light", None), ("dark", COLOR_RULES)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [f"{scheme}: {each}" for each in violations(page, rules)]
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
