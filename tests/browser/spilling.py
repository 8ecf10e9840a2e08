"""Find text that leaves its box, so that it overlaps other text or is out of sight."""

from playwright.sync_api import Page

# Boxes that clip or scroll their text do so on purpose.
SPILLING = """() => {
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  const leaves = (lines, box) => {
    const { left, right } = box.getBoundingClientRect();
    return lines.some((line) => line.left < left - 1 || line.right > right + 1);
  };
  const isSpilled = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = [...range.getClientRects()];
    for (let box = node.parentElement; box; box = box.parentElement) {
      const { display, overflowX, position } = getComputedStyle(box);
      if (display === "inline" || display === "contents") continue;
      if (overflowX !== "visible") return false;
      if (leaves(lines, box)) return true;
      if (position === "absolute" || position === "fixed") return false;
    }
    return false;
  };
  while (words.nextNode()) {
    const node = words.currentNode, holder = node.parentElement;
    if (!node.data.trim() || !holder.checkVisibility({ visibilityProperty: true })) continue;
    if (isSpilled(node)) found.push(`${node.data.trim()} in ${holder.outerHTML.slice(0, 120)}`);
  }
  return found;
}"""


def spilling(page: Page) -> list[str]:
    return page.evaluate(SPILLING)
