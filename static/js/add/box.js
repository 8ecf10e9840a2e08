// The field: it counts and marks while somebody types, and takes what is pasted anywhere.
import { fill, words } from "../words.js";
import { show as showResults } from "./results.js";
import { post, send, tellOthers, urls } from "./sender.js";

const MOST_LINES = 10_000;
const LOOK_MS = 300;
const form = document.getElementById("send");
const field = document.getElementById("omni");
const marks = document.getElementById("marks");
const [found, usual] = ["found", "usual"].map((name) => form.querySelector(`[data-${name}]`));
const button = form.querySelector("[type=submit] span");
const [paste, stop] = ["paste", "stop"].map((name) => form.querySelector(`[data-do=${name}]`));
const plain = button.textContent;
// Most visits add nothing, so the drafts come with the first one that does.
const keep = () => import("../unsent-forms.js").then((drafts) => drafts.keep(form), console.warn);
let looking = 0;
let reading = new AbortController();
let last = { text: "" };
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

// Only the server knows what a link is. Its answer may be late or missing: nothing waits for it.
async function look({ isTold = false } = {}) {
  const text = field.value;
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  if (text !== last.text) {
    const answer = text.trim() && (await post(urls.read, { text }, { signal }).catch(() => null));
    if (signal.aborted) return;
    last = answer ? { text, ...answer } : { text: "" };
  }
  found.textContent = last.found ?? "";
  usual.hidden = Boolean(last.found);
  // The text stays the same node: WebKit drops a click whose node is replaced during the press.
  button.firstChild.data = last.button || plain;
  mark((!isTold && last.marks) || "");
}

function mark(rows) {
  marks.hidden = !rows;
  marks.firstElementChild.innerHTML = rows;
  if (rows) field.setAttribute("aria-invalid", "true");
  else field.removeAttribute("aria-invalid");
  field.setAttribute("aria-describedby", rows ? "omni-hint marks" : "omni-hint");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (stopping) return;
  const lines = [
    ...new Set(
      field.value
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean),
    ),
  ];
  // Beyond the ten thousand that are read, lines stay as they are.
  if (lines.length) deliver(lines.slice(0, MOST_LINES), lines.slice(MOST_LINES));
  else field.focus();
});

async function deliver(lines, beyond) {
  clearTimeout(looking);
  reading.abort();
  stopping = new AbortController();
  busy(true);
  const outcomes = [];
  const answered = ({ items }, left) => {
    outcomes.push(...items);
    found.textContent = fill(words.add.progress, {
      done: outcomes.length,
      total: outcomes.length + left,
    });
    if (items.some(({ outcome }) => outcome === "added")) tellOthers();
  };
  const { kept, trouble } = await send(lines, { folder: folder(), answered, signal: stopping.signal });
  stopping = null;
  field.value = [...kept, ...beyond].join("\n");
  busy(false);
  keep();
  showResults(outcomes, trouble);
  found.textContent = "";
  // The results have said it already.
  mark("");
  look({ isTold: true });
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
