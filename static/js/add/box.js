// The field for links: counts and marks them while the user types, and takes text pasted anywhere.
import { onDemand } from "../on-demand.js";
import { fill, words } from "../words.js";
import { awaitFiles, post, send, tellOthers, urls } from "./sender.js";

const MOST_LINES = 10_000;
const LOOK_MS = 300;
const form = document.getElementById("send");
const field = document.getElementById("omni");
const marks = document.getElementById("marks");
const [foundText, usual] = ["found", "usual"].map((name) => form.querySelector(`[data-${name}]`));
const button = form.querySelector("[type=submit] span");
const [paste, stop] = ["paste", "stop"].map((name) => form.querySelector(`[data-do=${name}]`));
const plain = button.textContent;
// Most visits add nothing, so load the drafts with the first addition, and the results as the user types.
const keep = () => import("../unsent-forms.js").then((drafts) => drafts.keep(form), console.warn);
const loadResults = () => import("./results.js");
let lookTimer = 0;
let lookController = new AbortController();
let last = { text: "" };
let sendController = null;

export const folder = () => form.querySelector("select")?.value ?? "";
export const isChoosing = () => form.elements.choose?.checked ?? false;

field.addEventListener("input", () => {
  clearTimeout(lookTimer);
  lookTimer = setTimeout(look, LOOK_MS);
});

field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.requestSubmit();
});

// Only the server can recognize links. Its response may be late or missing, so nothing waits for it.
async function look({ hasResults = false } = {}) {
  loadResults().catch(console.warn);
  const text = field.value;
  lookController.abort();
  lookController = new AbortController();
  const { signal } = lookController;
  if (text !== last.text) {
    const answer = text.trim() && (await post(urls.read, { text }, signal).catch(() => null));
    if (signal.aborted) return;
    last = answer ? { text, ...answer } : { text: "" };
  }
  foundText.textContent = last.found ?? "";
  usual.hidden = Boolean(last.found);
  // Keep the same text node: WebKit drops a click if its node is replaced during the press.
  button.firstChild.data = last.button || plain;
  mark((!hasResults && last.marks) || "");
}

function mark(rows) {
  marks.hidden = !rows;
  marks.firstElementChild.innerHTML = rows;
  field.ariaInvalid = rows ? "true" : null;
  field.setAttribute("aria-describedby", rows ? "omni-hint marks" : "omni-hint");
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (sendController) return;
  const typed = field.value.split("\n").map((line) => line.trim());
  const lines = [...new Set(typed)].filter(Boolean);
  // Send at most ten thousand lines; the others stay in the field.
  if (lines.length) deliver(lines.slice(0, MOST_LINES), lines.slice(MOST_LINES));
  else field.focus();
});

async function deliver(lines, beyond) {
  clearTimeout(lookTimer);
  lookController.abort();
  sendController = new AbortController();
  setBusy(true);
  const outcomes = [];
  const onAnswer = ({ items }, left) => {
    outcomes.push(...items);
    foundText.textContent = fill(words.add.progress, { done: outcomes.length, total: outcomes.length + left });
    if (items.some(({ outcome }) => outcome === "added")) tellOthers();
  };
  const options = { folder: folder(), choose: isChoosing(), onAnswer, signal: sendController.signal };
  const { keptLines, trouble } = await send(lines, options);
  const results = await onDemand(loadResults);
  sendController = null;
  field.value = [...keptLines, ...beyond].join("\n");
  setBusy(false);
  keep();
  results?.show(outcomes, trouble, folder());
  if (isChoosing()) awaitFiles(outcomes, !field.value);
  foundText.textContent = "";
  // The results already show what the marks would.
  mark("");
  look({ hasResults: true });
  if (document.activeElement === document.body) form.querySelector("[type=submit]").focus({ preventScroll: true });
}

function setBusy(isBusy) {
  field.readOnly = isBusy;
  // A disabled button would lose the focus, and the page would scroll to wherever the focus went.
  form.querySelector("[type=submit]").setAttribute("aria-disabled", String(isBusy));
  stop.hidden = !isBusy;
  usual.hidden = isBusy;
  form.setAttribute("aria-busy", String(isBusy));
}

stop.addEventListener("click", () => sendController?.abort());

window.addEventListener("beforeunload", (event) => {
  if (sendController) event.preventDefault();
});

// Paste

export function put(text) {
  if (sendController) return;
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

// Reading the clipboard requires a secure page, and some browsers never allow it.
if (navigator.clipboard?.readText) {
  paste.hidden = false;
  paste.addEventListener("click", async () => {
    const text = await navigator.clipboard.readText().catch(() => "");
    put(text);
  });
}

if (field.value) look();
// Lists that bypass the confirmation page arrive in the fragment here, and also wait for the button.
const fragment = new URLSearchParams(location.hash.slice(1));
const lines = ["text", "magnet", "url"].flatMap((name) => fragment.getAll(name));
if (lines.length) put(lines.join("\n"));
