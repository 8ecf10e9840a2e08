"""What axe-core finds on a page."""

from pathlib import Path

from playwright.sync_api import Page

from tests.browser.looks import dressed

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
# Half a megabyte, and the results of a large page another: neither crosses over without need.
FOUND = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`));
}"""


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
