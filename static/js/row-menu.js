// One menu for all rows of a list, filled as it opens. What it does to the row is named by the
// items' `data-do`; an item without an act of that name is a link.
export class RowMenu {
  #id;
  #acts;
  #button = null;
  #key = "";

  constructor(id, acts) {
    this.#id = id;
    this.#acts = acts;
    document.addEventListener("click", (event) => {
      const item = event.target.closest(`#${id} [data-do]`);
      if (item) this.#follow(item, event);
    });
    document.addEventListener(
      "toggle",
      ({ target, newState }) => {
        if (target === this.element && newState !== "open") this.#release();
      },
      true,
    );
  }

  get element() {
    return document.getElementById(this.#id);
  }

  find(what) {
    return this.element.querySelector(`[data-do="${what}"]`);
  }

  open(button, row) {
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    // Who hides it and shows it at once hears of neither.
    this.#button?.removeAttribute("aria-expanded");
    this.#button = button;
    this.#key = row.id;
    button.setAttribute("aria-expanded", "true");
    this.element.showPopover({ source: button });
  }

  #release() {
    this.#button.removeAttribute("aria-expanded");
    const isLost = document.activeElement === document.body || this.element.contains(document.activeElement);
    if (isLost) this.#button.focus();
  }

  // The row may have been drawn anew since the menu opened.
  #follow(item, event) {
    const row = document.getElementById(this.#key);
    const act = this.#acts[item.dataset.do];
    if (act) event.preventDefault();
    this.element.hidePopover();
    if (act && row) act(row);
  }
}
