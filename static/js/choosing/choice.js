// The choice of a torrent's files: boxes of folders, buttons, a filter, the sum, and the progress.
import { live } from "../clock.js";
import { isDone } from "../errors.js";
import { on, onPlainClick } from "../events.js";
import { fetchJson } from "../server.js";
import { formatSize } from "../sizes.js";
import { fill, words } from "../words.js";

const PROGRESS_MS = 3_000;
const MARKS = { all: () => true, none: () => false, films: ({ dataset }) => dataset.look === "film" };

const boxesIn = (element) => [...element.querySelectorAll("[name=file], [name=rest]")];

// Call this for each form that the page gets.
export function begin() {
  const form = document.querySelector("form.choice");
  if (!form?.querySelector(".tree")) return;
  update(form);
  if (form.dataset.progress) live(() => showProgress(form), PROGRESS_MS);
}

function update(form) {
  for (const box of form.querySelectorAll("[data-folder]")) {
    const inside = boxesIn(box.closest(".branch"));
    const chosen = inside.filter(({ checked }) => checked).length;
    box.checked = chosen === inside.length;
    box.indeterminate = chosen > 0 && !box.checked;
  }
  const chosen = boxesIn(form).filter(({ checked }) => checked);
  const bytes = chosen.reduce((sum, { dataset }) => sum + Number(dataset.size), 0);
  const { count, bytes: whole, free } = form.dataset;
  form.querySelector("[data-sum]").textContent = fill(words.choosing.sum, {
    chosen: chosen.reduce((sum, { dataset }) => sum + Number(dataset.files ?? 1), 0),
    count: Number(count),
    size: formatSize(bytes),
    whole: formatSize(Number(whole)),
  });
  const short = free === undefined ? 0 : bytes - Number(free);
  form.querySelector("[data-short]").textContent =
    short > 0 ? fill(words.choosing.short, { size: formatSize(short) }) : "";
  const problem = chosen.length ? "" : words.choosing.none;
  const submit = form.querySelector("[type=submit]");
  submit?.setCustomValidity(problem);
  form.querySelector(".error").textContent = submit ? "" : problem;
  return problem;
}

// Without a button, htmx sends the form at each change.
function change(form) {
  setSaved(form, false);
  if (!update(form)) form.dispatchEvent(new CustomEvent("chosen"));
}

const setSaved = (form, isSaved) => form.querySelector("[data-saved]")?.toggleAttribute("hidden", !isSaved);

// Toasts are behind the dialog, so it says itself what became of a change. One that failed is undone.
on(document, "htmx:afterRequest", ({ detail }) => {
  const { elt: form, xhr, requestConfig } = detail;
  if (!form.matches(".choice[data-progress]")) return;
  if (isDone(detail)) keep(form, requestConfig.formData);
  else form.reset();
  if (update(form)) return;
  setSaved(form, isDone(detail));
  if (!isDone(detail)) form.querySelector(".error").textContent = words.shell[xhr.status ? "failed" : "unreachable"];
});

// Remember what is saved as what the form was at first.
function keep(form, sent) {
  const chosen = new Set([...sent].map(([name, value]) => `${name}=${value}`));
  for (const box of boxesIn(form)) box.defaultChecked = chosen.has(`${box.name}=${box.value}`);
}

on(document, "change", ({ target }) => {
  const form = target.closest(".choice");
  if (!form || target.type !== "checkbox") return;
  const branch = target.matches("[data-folder]") && target.closest(".branch");
  if (branch) for (const box of shownIn(branch)) box.checked = target.checked;
  change(form);
});

// What the filter hides stays as it is.
const shownIn = (element) => boxesIn(element).filter((box) => !box.closest("[hidden]"));

onPlainClick("a[data-mark]", (link) => {
  const form = link.closest(".choice");
  for (const box of shownIn(form)) box.checked = MARKS[link.dataset.mark](box);
  change(form);
});

// Filter

on(document, "input", ({ target }) => {
  if (!target.matches("[data-filter]")) return;
  const form = target.closest(".choice");
  const query = target.value.trim().toLowerCase();
  form.querySelector(".none").hidden = narrow(form.querySelector(".tree"), query, false);
});

// Show the rows whose name contains the query, with the folders around them and all that they contain.
function narrow(list, query, isInside) {
  let hasMatches = false;
  for (const row of list.children) {
    const isMatch = isInside || (row.querySelector("b")?.textContent.toLowerCase().includes(query) ?? false);
    const details = row.querySelector("details");
    const hasInner = details !== null && narrow(details.querySelector("ul"), query, isMatch);
    row.hidden = !isMatch && !hasInner;
    if (details && query && hasInner) details.open = true;
    hasMatches ||= !row.hidden;
  }
  return hasMatches;
}

async function showProgress(form) {
  if (!form.isConnected || form.closest("dialog:not([open])")) return null;
  const percents = await fetchJson(form.dataset.progress);
  if (!percents) throw new Error("no progress");
  for (const shown of form.querySelectorAll("[data-percent]")) {
    const percent = `${percents[shown.dataset.percent]}%`;
    if (shown.textContent !== percent) shown.textContent = percent;
  }
  return PROGRESS_MS;
}

begin();
