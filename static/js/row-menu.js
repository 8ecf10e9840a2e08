// One menu for all rows of a list, filled as it opens. The `data-do` of an item names its action; an
// item without such an action is a link.
import { onClick } from "./events.js";
import { openMenu } from "./menus.js";

export class RowMenu {
  #id;
  #key = "";

  constructor(id, actions) {
    this.#id = id;
    onClick(`#${id} [data-do]`, (item, event) => this.#follow(actions[item.dataset.do], event));
  }

  get element() {
    return document.getElementById(this.#id);
  }

  find(name) {
    return this.element.querySelector(`[data-do="${name}"]`);
  }

  // Show an item, or hide it. The menu may not have it.
  offer(name, isOffered, href = "") {
    const item = this.find(name);
    if (!item) return;
    item.parentElement.hidden = !isOffered;
    if (href) item.href = href;
  }

  open(button, row) {
    this.#key = row.id;
    openMenu(this.element, button);
  }

  // The row may have been replaced since the menu opened.
  #follow(action, event) {
    const row = document.getElementById(this.#key);
    if (action) event.preventDefault();
    this.element.hidePopover();
    if (action && row) action(row);
  }
}
