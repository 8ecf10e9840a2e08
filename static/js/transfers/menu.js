import { copy } from "../copying.js";
import { onClick } from "../events.js";
import { RowMenu } from "../row-menu.js";
import { startSelecting } from "../selection/selection.js";
import { showToast } from "../toasts.js";
import { listOf, words } from "../words.js";
import { canAct, cancel, change, clear, urlOf } from "./acts.js";

const CHANGES = ["pause", "resume", "first", "up", "down", "last"];
const changes = CHANGES.map((act) => [act, (row) => change(row, act)]);
const menu = new RowMenu("transfer-menu", {
  ...Object.fromEntries(changes),
  ...{ copy: copyLink, select: startSelecting, clear, cancel },
});
onClick(".transfer .more", open);

function open(more) {
  const row = more.closest(".transfer");
  const name = row.querySelector(".transfer-name");
  const link = name.querySelector("a:not([data-details])");
  // Rows on a phone may have no space for all facts.
  const facts = listOf([...row.querySelectorAll(".facts > *")].map(({ textContent }) => textContent.trim()));
  const lines = [name.textContent, facts, name.title].flatMap((line) => [line, document.createElement("br")]);
  menu.element.querySelector(".menu-title").replaceChildren(...lines.slice(0, -1));
  menu.offer("open", link !== null, link?.href);
  menu.offer("details", row.id.startsWith("t"), urlOf(row, "details").href);
  menu.offer("choose", canAct(row, "choose"), urlOf(row, "files").href);
  menu.offer("limit", canAct(row, "limit"), urlOf(row, "limits").href);
  menu.offer("select", row.querySelector(".tick") !== null);
  for (const act of ["pause", "resume", "copy", "clear", "cancel"]) menu.offer(act, canAct(row, act));
  for (const act of ["rename", "move", "delete"])
    menu.offer(act, canAct(row, "file"), `${urlOf(row, "open")}?to=${act}`);
  for (const act of ["first", "up", "down", "last"]) menu.offer(act, canAct(row, "move"));
  menu.open(more, row);
}

async function copyLink(row) {
  try {
    const answer = await fetch(urlOf(row, "link"));
    if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
    await copy(await answer.text());
  } catch {
    showToast(words.transfers.gone);
  }
}
