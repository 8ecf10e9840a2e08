"""Find controls that are too small for a finger, or that a phone shows badly."""

from playwright.sync_api import Page

# A control's label counts too, and so does any part of the control beyond what is painted. Links
# within a line of text are exempt, as in WCAG 2.5.5; so are controls that a finger can't reach
# before the keyboard does.
SMALL = """(least) => {
  const chosen = "a[href], button, summary, select, textarea, input:not([type=hidden])";
  const inText = (each) => each.matches("a") && getComputedStyle(each).display === "inline"
    && each.parentElement.textContent.trim() !== each.textContent.trim();
  const labelOf = (each) => each.labels?.[0];
  const hits = (each, x, y) => {
    const found = document.elementFromPoint(x, y);
    const own = [each, labelOf(each)].filter(Boolean);
    return found && own.some((one) => one.contains(found));
  };
  const reach = (each, x, y, stepX, stepY) => {
    let far = 0;
    while (far < least && hits(each, x + stepX * (far + 1), y + stepY * (far + 1))) far += 1;
    return far;
  };
  const isSmall = (each) => {
    each.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const { left, top, width, height } = each.getBoundingClientRect();
    if (Math.round(width) >= least && Math.round(height) >= least) return false;
    const x = left + width / 2, y = top + height / 2;
    if (!hits(each, x, y)) return false;
    const across = reach(each, x, y, 1, 0) + reach(each, x, y, -1, 0) + 1;
    const down = reach(each, x, y, 0, 1) + reach(each, x, y, 0, -1) + 1;
    return across < least - 1 || down < least - 1;
  };
  return [...document.querySelectorAll(chosen)]
    .filter((each) => each.checkVisibility({ opacityProperty: false, visibilityProperty: true }))
    .filter((each) => !each.disabled && !inText(each) && isSmall(each))
    .map((each) => each.outerHTML.slice(0, 160));
}"""
LEAST_PIXELS = 44


def too_small(page: Page) -> list[str]:
    return page.evaluate(SMALL, LEAST_PIXELS)


# An iPhone zooms into a field with a smaller font, and stays zoomed in.
ZOOMING = """(least) => [...document.querySelectorAll("select, textarea, input")]
    .filter(({ type }) => !["checkbox", "radio", "range", "file", "hidden"].includes(type))
    .filter((each) => parseFloat(getComputedStyle(each).fontSize) < least)
    .map((each) => each.outerHTML.slice(0, 160))"""
LEAST_LETTER_PIXELS = 16


def zooming(page: Page) -> list[str]:
    return page.evaluate(ZOOMING, LEAST_LETTER_PIXELS)


# A select shows what is chosen, but not what it is for.
NAMELESS = """() => [...document.querySelectorAll("select")]
    .filter((each) => each.checkVisibility())
    .filter(({ labels }) => !(labels[0]?.getBoundingClientRect().width > 1))
    .map((each) => each.outerHTML.slice(0, 160))"""


def nameless(page: Page) -> list[str]:
    """Return the selects that have no visible label."""
    return page.evaluate(NAMELESS)
