// One menu for all rows of a list, filled as it opens. The `data-do` of an item names its action; an
// item without such an action is a link.
export class RowMenu {
  #id;
  #actions;
  #button = null;
  #key = "";

  constructor(id, actions) {
    this.#id = id;
    this.#actions = actions;
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

  find(name) {
    return this.element.querySelector(`[data-do="${name}"]`);
  }

  open(button, row) {
    if (this.element.matches(":popover-open")) this.element.hidePopover();
    // Browsers merge the toggle events of hiding and showing at once, so #release isn't called.
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

  // The row may have been replaced since the menu opened.
  #follow(item, event) {
    const row = document.getElementById(this.#key);
    const action = this.#actions[item.dataset.do];
    if (action) event.preventDefault();
    this.element.hidePopover();
    if (action && row) action(row);
  }
}
