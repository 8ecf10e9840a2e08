// What is typed waits in this tab until the server has handled it: who was signed out meanwhile finds
// it again in its form, and nobody else does. Passwords and files never wait. Storage may be
// forbidden or full: then what is typed lasts as long as its page.
import { isDone } from "./errors.js";
import { tab } from "./storage.js";
import { tell } from "./toasts.js";
import { fill, listOf, words } from "./words.js";

const TYPED = "textarea, input[type=text], input[type=email], input[type=url], input:not([type])";
const SAVE_MS = 250;
const place = new URL(".", new URL(document.querySelector("link[rel=manifest]")?.dataset.worker ?? "", location.href))
  .pathname;
const OURS = `ferry-draft ${place} `;
const SENT = `ferry-sent ${place}`;
const INTERRUPTED = `ferry-interrupted ${place}`;
const { person } = document.body.dataset;
// Pages for strangers keep nothing, whoever opens them.
const isApp = Boolean(person && document.querySelector(".app"));
const unsaved = new Set();
let saving = 0;
let isSignedOut = false;

const mine = `${OURS}${person} `;
const keyOf = (form) => `${mine}${new URL(form.action).pathname}#${form.id}`;
const typedIn = (form) => [...form.elements].filter((field) => field.name && !field.readOnly && field.matches(TYPED));
const filesIn = (form) => [...form.elements].filter(({ type }) => type === "file");
const isKept = (form) => isApp && form?.method === "post" && typedIn(form).length + filesIn(form).length > 0;
// A field fires one more "change" as its form goes away.
const isGivenUp = (form) => !form.isConnected || form.closest("dialog:not([open])") !== null;

// Keeping

export function keep(form) {
  unsaved.delete(form);
  if (isSignedOut || !isKept(form) || isGivenUp(form)) return;
  const files = filesIn(form).flatMap((field) => [...field.files].map(({ name }) => name));
  const typed = typedIn(form);
  if (!files.length && !typed.some(({ value }) => value)) return forget(form);
  const choices = [...form.elements].filter((field) => field.matches("select[name]"));
  const fields = [...typed, ...choices].map(({ name, value }) => [name, value]);
  tab.write(keyOf(form), { fields, files });
}

export function forget(form) {
  unsaved.delete(form);
  if (isKept(form)) tab.remove(keyOf(form));
}

for (const name of ["input", "change"]) {
  document.addEventListener(name, ({ target: { form } }) => {
    if (!isKept(form)) return;
    unsaved.add(form);
    clearTimeout(saving);
    saving = setTimeout(saveAll, SAVE_MS);
  });
}

function saveAll() {
  for (const form of unsaved) keep(form);
}

window.addEventListener("pagehide", saveAll);
document.addEventListener("visibilitychange", saveAll);

// Sending

document.addEventListener(
  "submit",
  ({ target }) => {
    if (target.matches("form[data-signout]")) signOut();
    else keep(target);
  },
  true,
);

// Last of all: what a script sends stays on this page, and what the browser sends leaves it.
window.addEventListener("submit", (event) => {
  if (!event.defaultPrevented) leave(event.target);
});

document.addEventListener("ferry:send-as-page", ({ target }) => leave(target), true);

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const form = detail.requestConfig.elt;
  if (!isDone(detail) || !isKept(form)) return;
  const { xhr } = detail;
  if (xhr.getResponseHeader("HX-Redirect")) leave(form);
  else if (!xhr.getResponseHeader("HX-Trigger")?.includes("send-as-page")) forget(form);
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-close], [data-cancel]");
  const form = button?.closest("form") ?? button?.closest("dialog")?.querySelector("form");
  if (form) forget(form);
});

document.addEventListener(
  "keydown",
  ({ key, target }) => {
    const form = key === "Escape" && target.closest?.(".rename");
    if (form) forget(form);
  },
  true,
);

document.addEventListener(
  "cancel",
  ({ target }) => {
    if (target.matches("dialog")) for (const form of target.querySelectorAll("form")) forget(form);
  },
  true,
);

function leave(form) {
  if (isKept(form)) tab.write(SENT, keyOf(form));
}

function signOut() {
  isSignedOut = true;
  for (const key of tab.keys()) if (key.startsWith(OURS)) tab.remove(key);
}

// Coming back

// Of a form that another page answered, nothing more waits.
function settle() {
  const sent = tab.read(SENT);
  if (!sent || "unhandled" in document.body.dataset) return;
  if (![...document.forms].some((form) => isKept(form) && keyOf(form) === sent)) tab.remove(sent);
  tab.remove(SENT);
}

function restore(form) {
  const kept = isKept(form) && tab.readJson(keyOf(form));
  if (!kept) return null;
  let typed = null;
  for (const [name, value] of kept.fields) {
    const field = form.elements.namedItem(name);
    if (
      !field?.matches?.(`select, ${TYPED}`) ||
      (field.matches("select") && ![...field.options].some((option) => option.value === value))
    )
      continue;
    // A person may have typed already, between the swap of a form and its "load" event.
    if (field.matches(TYPED) && field.value !== field.defaultValue) continue;
    field.value = value;
    if (!typed && !field.matches("select")) typed = field;
  }
  if (tab.read(INTERRUPTED) && kept.files.length) name(form, kept.files);
  return typed ?? filesIn(form)[0];
}

// Where a session ended, what was being typed comes up by itself, once.
function show(field) {
  if (!tab.read(INTERRUPTED)) return;
  tab.remove(INTERRUPTED);
  const dialog = field.closest("dialog");
  if (dialog && !dialog.open) dialog.showModal();
  field.focus();
  for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
  tell(words.shell.restored);
}

// The form for a new name comes only when it is asked for.
async function reopen() {
  const paths = tab
    .keys()
    .filter((key) => key.startsWith(mine))
    .map((key) => key.slice(mine.length).split("#")[0]);
  const more = [...document.querySelectorAll("#listing .more[formaction]")].find(({ formAction }) =>
    paths.includes(new URL(formAction).pathname),
  );
  if (!more) return;
  const { rename } = await import("./files/renaming.js");
  rename(more.closest("[id]"));
}

// No script may choose files, so say which were chosen.
function name(form, files) {
  const hint = Object.assign(document.createElement("p"), { className: "hint" });
  hint.textContent = fill(words.shell.choose, { names: listOf(files.map((each) => `\u2068${each}\u2069`)) });
  filesIn(form)[0].after(hint);
}

function comeBack(forms) {
  const [field] = forms.map(restore).filter(Boolean);
  if (field) show(field);
}

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt !== document.body) comeBack([elt, ...elt.querySelectorAll("form")].filter((each) => each.matches("form")));
});

if (person) {
  for (const key of tab.keys()) if (key.startsWith(OURS) && !key.startsWith(mine)) tab.remove(key);
  settle();
  comeBack([...document.forms]);
  if (tab.read(INTERRUPTED)) reopen();
} else if (document.querySelector("form[data-kept]")) {
  tab.remove(SENT);
  if (tab.keys().some((key) => key.startsWith(OURS))) tab.write(INTERRUPTED, "yes");
}
