import { copy } from "../copying.js";
import { hasClosed } from "../menus.js";
import { RowMenu } from "../row-menu.js";
import { showToast } from "../toasts.js";
import { listOf, words } from "../words.js";
import { cancel, clear, urlOf } from "./acts.js";

const menu = new RowMenu("transfer-menu", { copy: copyLink, clear, cancel });
document.addEventListener("click", (event) => {
  const more = event.target.closest(".transfer .more");
  if (more && !hasClosed(more)) open(more);
});

function open(more) {
  const row = more.closest(".transfer");
  const name = row.querySelector(".transfer-name");
  const link = name.querySelector("a");
  // Rows on a phone may have no space for all facts.
  const facts = listOf([...row.querySelectorAll(".facts > *")].map(({ textContent }) => textContent.trim()));
  const lines = [name.textContent, facts, name.title].flatMap((line) => [line, document.createElement("br")]);
  menu.element.querySelector(".menu-title").replaceChildren(...lines.slice(0, -1));
  menu.find("open").parentElement.hidden = !link;
  if (link) menu.find("open").href = link.href;
  menu.find("copy").parentElement.hidden = !("copy" in more.dataset);
  menu.find("clear").parentElement.hidden = !("clear" in more.dataset);
  menu.find("cancel").parentElement.hidden = !row.querySelector("[data-remove]");
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
