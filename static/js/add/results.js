// Show the outcomes of added items in one line. Items that were simply added get no row, unless there
// is only one: its row shows its name. Everything is rendered together, so the layout shifts once.
import { makeElement, setIcon } from "../elements.js";
import { onPlainClick } from "../events.js";
import { fill, words } from "../words.js";
import { Outcomes } from "./outcomes.js";
import { troubleParts } from "./sender.js";

const MOST_ROWS = 100;
const section = document.getElementById("results");
const list = section?.querySelector("ul");
// The list of transfers is on another page, unless this is that page.
const link = section?.querySelector("[data-show]");
const template = document.getElementById("result");

export function show(items, trouble, folder) {
  const outcomes = new Outcomes();
  for (const item of items) outcomes.count(item);
  const listedItems = items.length === 1 ? items : items.filter(({ outcome }) => outcome !== "added");
  clear();
  if (!items.length && !trouble) return;
  list.append(...listedItems.slice(0, MOST_ROWS).map(rowOf));
  const rest = listedItems.length - MOST_ROWS;
  if (rest > 0)
    list.append(makeElement("li", { className: "result", textContent: fill(words.upload.more, { count: rest }) }));
  list.hidden = !listedItems.length;
  if (link) Object.assign(link, { hidden: !outcomes.added, search: `added=${folder || 0}` });
  section.querySelector("[data-dismiss]").hidden = false;
  // Set this text once, so that screen readers announce only the complete summary.
  document.getElementById("results-summary").textContent = String(outcomes);
  if (!trouble) return;
  const parts = makeElement("span", {}, ...troubleParts(trouble));
  list.before(makeElement("p", { className: "banner red", role: "alert" }, parts));
}

function clear() {
  section.querySelector(".banner")?.remove();
  section.querySelector("[data-dismiss]").hidden = true;
  document.getElementById("results-summary").textContent = "";
  list.replaceChildren();
  if (link) link.hidden = true;
  list.hidden = true;
}

function rowOf({ key, outcome, tone, icon, name, sentence, url }) {
  const row = template.content.firstElementChild.cloneNode(true);
  row.dataset.outcome = outcome;
  if (key) row.dataset.key = key;
  if (tone) row.classList.add(tone);
  setIcon(row, icon);
  row.querySelector("bdi").textContent = name;
  row.querySelector("div > span").textContent = sentence;
  if (url) row.querySelector("a").href = url;
  else row.querySelector("a").remove();
  return row;
}

onPlainClick("#results [data-dismiss]", () => {
  clear();
  document.getElementById("main").focus({ preventScroll: true });
});

// A link without a name gets one later, from its transfer.
document.addEventListener("transfers-shown", () => {
  for (const row of list?.querySelectorAll("[data-key]") ?? []) {
    const name = document.querySelector(`#${CSS.escape(row.dataset.key)} .transfer-name`)?.textContent;
    if (name) row.querySelector("bdi").textContent = name;
  }
});
