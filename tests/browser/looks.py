"""Wait for styles: some are requested only by the first action, and they apply once loaded."""

from playwright.sync_api import Page

DRESSED = """async () => {
  const there = (link) => link.sheet ?? new Promise((loaded, failed) => {
    link.addEventListener("load", loaded);
    link.addEventListener("error", failed);
    setTimeout(failed, 30_000, new Error(`${link.href} never came`));
  });
  await Promise.all([...document.querySelectorAll("link[rel=stylesheet]")].map(there));
}"""

# Record how an element is displayed at the moment when a script adds it to the page.
FIRST_DISPLAY = """(id) => new MutationObserver((_changes, observer) => {
  const fresh = document.getElementById(id);
  if (!fresh) return;
  window.firstDisplay = getComputedStyle(fresh).display;
  observer.disconnect();
}).observe(document.body, { childList: true, subtree: true })"""


def dressed(page: Page) -> None:
    """Wait until all style sheets are loaded. Without scripts, this would wait forever."""
    page.evaluate(DRESSED)
