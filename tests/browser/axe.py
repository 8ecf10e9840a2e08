"""What axe-core finds on a page."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.looks import dressed

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
# What axe found in order is a hundred times as long, and nobody reads it.
FOUND = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  const lines = ({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`);
  return violations.flatMap(lines);
}"""


def violations(page: Page) -> list[str]:
    dressed(page)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    return page.evaluate(FOUND)


def faults_at(page: Page, *widths: int) -> list[str]:
    """What axe finds in both color schemes, and how far the page is too wide."""
    found = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            found += [f"{width}, {scheme}: {each}" for each in violations(page)]
        found += too_wide(page, width)
    return found


def too_wide(page: Page, width: int) -> list[str]:
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [f"{width}: the page is {wide} wide"] if wide > width else []
