// One menu for all rows, filled as it opens.
import { copy } from "../copying.js";
import { showToast } from "../toasts.js";
import { cancel, clear, urlOf } from "./acts.js";

const menu = () => document.getElementById("transfer-menu");
const find = (what) => menu().querySelector(`[data-do="${what}"]`);
let button = null;
let key = "";
let pressedOpen = null;

const ACTS = {
  copy: copyLink,
  clear,
  cancel,
};

document.addEventListener("pointerdown", ({ target }) => {
  const more = target.closest(".transfer .more");
  pressedOpen = more?.getAttribute("aria-expanded") === "true" ? more : null;
}, true);

document.addEventListener("click", (event) => {
  const more = event.target.closest(".transfer .more");
  if (more) {
    const isToggled = more === pressedOpen;
    pressedOpen = null;
    if (!isToggled) open(more);
  }
  const item = event.target.closest("#transfer-menu [data-do]");
  if (item) follow(item, event);
});

document.addEventListener("toggle", ({ target, newState }) => {
  if (target !== menu() || newState === "open") return;
  button.removeAttribute("aria-expanded");
  const isLost = document.activeElement === document.body || target.contains(document.activeElement);
  if (isLost) button.focus();
}, true);

function open(more) {
  const row = more.closest(".transfer");
  const name = row.querySelector(".transfer-name");
  const link = name.querySelector("a");
  if (menu().matches(":popover-open")) menu().hidePopover();
  button = more;
  key = row.id;
  menu().querySelector(".menu-title").replaceChildren(name.textContent, document.createElement("br"), name.title);
  find("open").parentElement.hidden = !link;
  if (link) find("open").href = link.href;
  find("copy").parentElement.hidden = !("copy" in more.dataset);
  find("clear").parentElement.hidden = !("clear" in more.dataset);
  find("cancel").parentElement.hidden = !row.querySelector("[data-remove]");
  more.setAttribute("aria-expanded", "true");
  menu().showPopover({ source: more });
}

function follow(item, event) {
  const row = document.getElementById(key);
  const act = ACTS[item.dataset.do];
  if (act) event.preventDefault();
  menu().hidePopover();
  if (act && row) act(row);
}

async function copyLink(row) {
  try {
    const answer = await fetch(urlOf(row, "link"));
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    await copy(await answer.text(), menu().dataset.copied);
  } catch {
    showToast(menu().dataset.failed);
  }
}
