"""Styles come later than what they dress: some with the first act, none before they are loaded."""

from playwright.sync_api import Page

DRESSED = """async () => {
  const there = (link) => link.sheet ?? new Promise((loaded, failed) => {
    link.addEventListener("load", loaded);
    link.addEventListener("error", failed);
    setTimeout(failed, 30_000, new Error(`${link.href} never came`));
  });
  await Promise.all([...document.querySelectorAll("link[rel=stylesheet]")].map(there));
}"""


def dressed(page: Page) -> None:
    """Where scripts are off, this would wait for ever."""
    page.evaluate(DRESSED)
