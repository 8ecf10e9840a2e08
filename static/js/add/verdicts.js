// What became of each, as the server says it: the worst first, and no more rows than anybody reads.
import { fill, numberWords } from "../files/words.js";
import { words } from "./sender.js";

const MOST_ROWS = 100;
const section = document.getElementById("verdicts");
const list = section?.querySelector("ul");
const template = document.getElementById("verdict");
let counts = {};

export function clear() {
  counts = { added: 0, known: 0, failed: 0, rows: 0 };
  section.querySelector(".banner")?.remove();
  list.replaceChildren();
}

export function show(items) {
  for (const item of items) {
    counts[item.outcome in counts ? item.outcome : "failed"] += 1;
    if (counts.rows < MOST_ROWS) list.append(rowOf(item));
    counts.rows += 1;
  }
}

function rowOf({ key, outcome, tone, icon, name, sentence, url }) {
  const row = template.content.firstElementChild.cloneNode(true);
  const use = row.querySelector("use");
  row.dataset.outcome = outcome;
  if (key) row.dataset.key = key;
  if (tone) row.classList.add(tone);
  use.setAttribute("href", use.getAttribute("href").replace("#circle-alert", `#${icon}`));
  row.querySelector("bdi").textContent = name;
  row.querySelector("div > span").textContent = sentence;
  if (url) row.querySelector("a").href = url;
  else row.querySelector("a").remove();
  return row;
}

// Of a link that names nothing, the name comes later.
document.addEventListener("transfers-shown", () => {
  for (const row of list?.querySelectorAll("[data-key]") ?? []) {
    const name = document.querySelector(`#${CSS.escape(row.dataset.key)} .transfer-name`)?.textContent;
    if (name) row.querySelector("bdi").textContent = name;
  }
});

// Read out once, when all is said.
export function conclude(trouble) {
  if (counts.rows > MOST_ROWS) {
    const more = Object.assign(document.createElement("li"), { className: "verdict" });
    more.textContent = fill(words.more, { count: numberWords(counts.rows - MOST_ROWS) });
    list.append(more);
  }
  document.getElementById("verdicts-summary").textContent = summary();
  if (!trouble) return;
  const banner = Object.assign(document.createElement("p"), { className: "banner red", textContent: trouble });
  banner.setAttribute("role", "alert");
  list.before(banner);
}

function summary() {
  const said = ["added", "known", "failed"].filter((outcome) => counts[outcome]);
  return said.map((outcome) => fill(words[outcome], { count: numberWords(counts[outcome]) })).join(", ");
}
