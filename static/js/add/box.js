// The field: it counts and marks while somebody types, and takes what is pasted anywhere.
import { fill, numberWords } from "../files/words.js";
import { read } from "./lines.js";
import { send, tellOthers, words } from "./sender.js";
import { show as showResults } from "./results.js";

const MOST_MARKS = 5;
const MOST_NAMES = 3;
const LOOK_MS = 120;
const form = document.getElementById("send");
const field = document.getElementById("omni");
const marks = document.getElementById("marks");
const [found, usual] = ["found", "usual"].map((name) => form.querySelector(`[data-${name}]`));
const button = form.querySelector("[type=submit] span");
const [paste, stop] = ["paste", "stop"].map((name) => form.querySelector(`[data-do=${name}]`));
const plain = button.textContent;
// Most visits add nothing, so the drafts come with the first one that does.
const keep = () => import("../drafts.js").then((drafts) => drafts.keep(form), console.warn);
let looking = 0;
let stopping = null;

export const folder = () => form.querySelector("select")?.value ?? "";

field.addEventListener("input", () => {
  clearTimeout(looking);
  looking = setTimeout(look, LOOK_MS);
});

field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});

function look() {
  const items = read(field.value);
  const links = items.filter(({ reason }) => !reason);
  const bad = items.filter(({ reason }) => reason);
  const names = links.slice(0, MOST_NAMES).map(({ name }) => `\u2068${name}\u2069`).join(", ");
  found.textContent = links.length ? fill(links.length > 1 ? words.links : words.link, { count: numberWords(links.length), names }) : "";
  usual.hidden = links.length > 0;
  // The text stays the same node: WebKit drops a click whose node is replaced during the press.
  button.firstChild.data = links.length > 1 ? fill(words.add, { count: numberWords(links.length) }) : plain;
  mark(bad);
}

function mark(bad) {
  marks.hidden = !bad.length;
  const list = marks.firstElementChild;
  list.replaceChildren(...bad.slice(0, MOST_MARKS).map(({ number, reason, line }) => {
    const text = document.createElement("bdi");
    text.textContent = line.length > 60 ? `${line.slice(0, 60)}…` : line;
    // Its marks are those of the page's language.
    const quoted = document.createElement("q");
    quoted.append(text);
    const row = document.createElement("li");
    row.append(`${fill(words.lineno, { number: numberWords(number) })}, `, quoted, `: ${words[reason]}`);
    return row;
  }));
  if (bad.length > MOST_MARKS) {
    const more = document.createElement("li");
    more.textContent = fill(words.more, { count: numberWords(bad.length - MOST_MARKS) });
    list.append(more);
  }
  if (bad.length) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  field.setAttribute("aria-describedby", bad.length ? "omni-hint marks" : "omni-hint");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (stopping) return;
  const lines = read(field.value).map(({ line }) => line);
  if (lines.length) deliver(lines);
  else field.focus();
});

async function deliver(lines) {
  // Beyond the ten thousand that are read, lines stay as they are.
  const beyond = field.value.split(/\r\n|\r|\n/).slice(10_000);
  stopping = new AbortController();
  busy(true);
  const outcomes = [];
  const answered = ({ items }, left) => {
    outcomes.push(...items);
    found.textContent = fill(words.progress, { done: numberWords(lines.length - left), total: numberWords(lines.length) });
    if (items.some(({ outcome }) => outcome === "added")) tellOthers();
  };
  const { kept, trouble } = await send(lines, { folder: folder(), answered, signal: stopping.signal });
  stopping = null;
  field.value = [...kept, ...beyond].join("\n");
  busy(false);
  keep();
  showResults(outcomes, trouble);
  look();
  // The results have said it already.
  mark([]);
  if (document.activeElement === document.body) form.querySelector("[type=submit]").focus({ preventScroll: true });
}

function busy(isBusy) {
  field.readOnly = isBusy;
  // One that is disabled would lose the focus, and the page would jump to wherever that went.
  form.querySelector("[type=submit]").setAttribute("aria-disabled", String(isBusy));
  stop.hidden = !isBusy;
  usual.hidden = isBusy;
  form.setAttribute("aria-busy", String(isBusy));
}

stop.addEventListener("click", () => stopping?.abort());

window.addEventListener("beforeunload", (event) => {
  if (stopping) event.preventDefault();
});

// Paste

export function put(text) {
  if (stopping) return;
  field.value = [field.value.trimEnd(), text.trim()].filter(Boolean).join("\n");
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  keep();
  look();
}

document.addEventListener("paste", (event) => {
  if (event.target.closest?.("input, textarea, [contenteditable]") || document.querySelector("dialog[open]")) return;
  const text = event.clipboardData.getData("text/plain");
  if (!text.trim()) return;
  event.preventDefault();
  put(text);
});

// Only a secure page may read the clipboard, and only some browsers let it.
if (navigator.clipboard?.readText) {
  paste.hidden = false;
  paste.addEventListener("click", async () => {
    const text = await navigator.clipboard.readText().catch(() => "");
    put(text);
  });
}

if (field.value) look();
// A list that came without the page that asks is shown here, and waits for the button as well.
const brought = new URLSearchParams(location.hash.slice(1));
const lines = ["text", "magnet", "url"].flatMap((name) => brought.getAll(name));
if (lines.length) put(lines.join("\n"));
