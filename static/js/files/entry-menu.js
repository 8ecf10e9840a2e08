import { copy } from "../copying.js";
import { deleteRow } from "./deleting.js";
import { addressOf, isPlayed, playElsewhere } from "./elsewhere.js";
import { rename } from "./renaming.js";
import { isFolder, linkOf, nameOf, rowBy, rowOf } from "./rows.js";
import { startSelecting, toggle } from "./selection.js";

const menu = () => document.getElementById("entry-menu");
let button = null;
let key = "";

const ACTS = {
  open: (row) => linkOf(row).click(),
  copy: (row) => copy(isFolder(row) ? linkOf(row).href : new URL(row.dataset.get, location.href).href, menu().dataset.copied),
  select: (row) => {
    startSelecting();
    toggle(row);
  },
  share: playElsewhere,
  rename,
  delete: deleteRow,
};

document.addEventListener("click", (event) => {
  const item = event.target.closest("#entry-menu [data-do]");
  if (item) follow(item, event);
});

document.addEventListener("toggle", ({ target, newState }) => {
  if (target !== menu() || newState === "open") return;
  button.removeAttribute("aria-expanded");
  const isLost = document.activeElement === document.body || target.contains(document.activeElement);
  if (isLost) button.focus();
}, true);

export function open(more) {
  const row = rowOf(more);
  const link = linkOf(row);
  const find = (what) => menu().querySelector(`[data-do="${what}"]`);
  const [file, folder] = find("get").querySelectorAll("span");
  if (menu().matches(":popover-open")) menu().hidePopover();
  button = more;
  key = row.id;
  menu().querySelector(".menu-title").textContent = nameOf(row);
  find("get").href = row.dataset.get ?? link.href;
  find("open").href = link.href;
  find("open").parentElement.hidden = find("get").href === link.href;
  find("share").href = addressOf(row);
  find("share").parentElement.hidden = !isPlayed(row);
  file.hidden = isFolder(row);
  folder.hidden = !isFolder(row);
  more.setAttribute("aria-expanded", "true");
  menu().showPopover({ source: more });
}

function follow(item, event) {
  const row = rowBy(key);
  const act = ACTS[item.dataset.do];
  if (act) event.preventDefault();
  menu().hidePopover();
  if (act && row) act(row);
}
