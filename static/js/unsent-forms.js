// Save form input in this tab until the server has processed it: a user who was signed out in the
// meantime gets it back in its form, and no one else does. Passwords and files are never saved.
// Storage may be blocked or full: then input lasts as long as its page.
import { makeElement } from "./elements.js";
import { isDone } from "./errors.js";
import { on, onCapture, onClick } from "./events.js";
import { tab } from "./storage.js";
import { tell } from "./toasts.js";
import { fill, listOf, words } from "./words.js";
import { basePath, DRAFTS } from "./worker.js";

const TEXT_FIELDS = "textarea, input[type=text], input[type=email], input[type=url], input:not([type])";
const SAVE_MS = 250;
const SENT_KEY = `ferry-sent ${basePath}`;
const INTERRUPTED_KEY = `ferry-interrupted ${basePath}`;
const { person } = document.body.dataset;
// Pages that are open to strangers save nothing, even for people who are signed in.
const isApp = Boolean(person && document.querySelector(".app"));
const dirtyForms = new Set();
let saveTimer = 0;

const ownPrefix = `${DRAFTS}${person} `;
const keyOf = (form) => `${ownPrefix}${new URL(form.action).pathname}#${form.id}`;
const textFieldsIn = (form) =>
  [...form.elements].filter((field) => field.name && !field.readOnly && field.matches(TEXT_FIELDS));
const filesIn = (form) => [...form.elements].filter(({ type }) => type === "file");
const mayHaveDraft = (form) => isApp && form?.method === "post" && textFieldsIn(form).length + filesIn(form).length > 0;
// A field fires a last "change" event as its form is removed or its dialog closes.
const isAbandoned = (form) => !form.isConnected || form.closest("dialog:not([open])") !== null;

// Saving

export function keep(form) {
  dirtyForms.delete(form);
  if (!mayHaveDraft(form) || isAbandoned(form)) return;
  const files = filesIn(form).flatMap((field) => [...field.files].map(({ name }) => name));
  const textFields = textFieldsIn(form);
  if (!files.length && !textFields.some(({ value }) => value)) return forget(form);
  const choices = [...form.elements].filter((field) => field.matches("select[name]"));
  const fields = [...textFields, ...choices].map(({ name, value }) => [name, value]);
  tab.write(keyOf(form), { fields, files });
}

export function forget(form) {
  dirtyForms.delete(form);
  if (mayHaveDraft(form)) tab.remove(keyOf(form));
}

on(document, "input change", ({ target: { form } }) => {
  if (!mayHaveDraft(form)) return;
  dirtyForms.add(form);
  clearTimeout(saveTimer);
  saveTimer = setTimeout(saveAll, SAVE_MS);
});

function saveAll() {
  for (const form of dirtyForms) keep(form);
}

window.addEventListener("pagehide", saveAll);
document.addEventListener("visibilitychange", saveAll);

// Sending

onCapture("submit", ({ target }) => keep(target));

// This listener runs last: only a form that no script handles takes the user to another page.
window.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) markSent(event.target);
});

onCapture("ferry:send-as-page", ({ target }) => markSent(target));

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const form = detail.requestConfig.elt;
  if (!isDone(detail) || !mayHaveDraft(form)) return;
  const { xhr } = detail;
  if (xhr.getResponseHeader("HX-Redirect")) markSent(form);
  else if (!xhr.getResponseHeader("HX-Trigger")?.includes("send-as-page")) forget(form);
});

onClick("[data-close], [data-cancel]", (button) => {
  const form = button.closest("form") ?? button.closest("dialog")?.querySelector("form");
  if (form) forget(form);
});

onCapture("cancel", ({ target }) => {
  if (target.matches("dialog")) for (const form of target.querySelectorAll("form")) forget(form);
});

function markSent(form) {
  if (mayHaveDraft(form)) tab.write(SENT_KEY, keyOf(form));
}

// Restoring

// Delete the draft of the form that led here, unless this page shows the form again.
function settle() {
  const key = tab.read(SENT_KEY);
  if (!key || "unhandled" in document.body.dataset) return;
  if (![...document.forms].some((form) => mayHaveDraft(form) && keyOf(form) === key)) tab.remove(key);
  tab.remove(SENT_KEY);
}

function restore(form) {
  const draft = mayHaveDraft(form) && tab.readJson(keyOf(form));
  if (!draft) return null;
  let firstField = null;
  for (const [name, value] of draft.fields) {
    const field = form.elements.namedItem(name);
    if (!mayTake(field, value)) continue;
    field.value = value;
    if (field.matches(TEXT_FIELDS)) firstField ??= field;
  }
  if (tab.read(INTERRUPTED_KEY) && draft.files.length) showFileNames(form, draft.files);
  return firstField ?? filesIn(form)[0];
}

// The user may have typed already, between the swap of a form and its "load" event.
function mayTake(field, value) {
  if (field?.matches?.("select")) return [...field.options].some((option) => option.value === value);
  return field?.matches?.(TEXT_FIELDS) && field.value === field.defaultValue;
}

// If the session ended while the user was typing, bring up the restored field, once.
function show(field) {
  if (!tab.read(INTERRUPTED_KEY)) return;
  tab.remove(INTERRUPTED_KEY);
  const dialog = field.closest("dialog");
  if (dialog && !dialog.open) dialog.showModal();
  field.focus();
  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
  tell(words.shell.restored);
}

// The page has no form for a new name until the user requests it.
async function reopenRenaming() {
  const paths = tab.keys(ownPrefix).map((key) => key.slice(ownPrefix.length).split("#")[0]);
  const menuButton = [...document.querySelectorAll("#listing .more[formaction]")].find(({ formAction }) =>
    paths.includes(new URL(formAction).pathname),
  );
  if (!menuButton) return;
  const { rename } = await import("./files/renaming.js");
  rename(menuButton.closest("[id]"));
}

// Scripts can't choose files, so show which ones the user had chosen.
function showFileNames(form, files) {
  const names = listOf(files.map((each) => `\u2068${each}\u2069`));
  const textContent = fill(words.shell.choose, { names });
  filesIn(form)[0].after(makeElement("p", { className: "hint", textContent }));
}

function restoreAll(forms) {
  const [field] = forms.map(restore).filter(Boolean);
  if (field) show(field);
}

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt !== document.body) restoreAll([elt, ...elt.querySelectorAll("form")].filter((each) => each.matches("form")));
});

if (person) {
  for (const key of tab.keys(DRAFTS)) if (!key.startsWith(ownPrefix)) tab.remove(key);
  settle();
  restoreAll([...document.forms]);
  if (tab.read(INTERRUPTED_KEY)) reopenRenaming();
} else if (document.querySelector("form[data-kept]")) {
  tab.remove(SENT_KEY);
  if (tab.keys(DRAFTS).length) tab.write(INTERRUPTED_KEY, "yes");
}
