// Rename in place: the form replaces the name, and the new name shows before the server confirms it.
import { makeElement } from "../elements.js";
import { isDone } from "../errors.js";
import { on, onClick } from "../events.js";
import { fill, words } from "../words.js";
import { linkOf, nameOf, rowBy, rowOf, say } from "./rows.js";
import { adopt } from "./selection.js";

const before = new WeakMap();

export function rename(row) {
  const open = row.querySelector(".rename");
  const more = row.querySelector(".more");
  if (open) return open.querySelector(".input").focus();
  if (!more || !document.getElementById("delete")) return;
  if (!rowOf(row)) return location.assign(more.formAction); // a row that a search found
  const address = new URL("form/", more.formAction);
  address.searchParams.set("view", document.getElementById("listing").dataset.view);
  window.htmx.ajax("GET", address.pathname + address.search, { source: "#go", target: linkOf(row), swap: "afterend" });
}

onClick(".rename [data-cancel]", (button, event) => leave(button.closest(".rename"), event));
on(document, "keydown", (event) => event.key === "Escape" && leave(event.target.closest?.(".rename"), event));

// A refresh may have replaced the row since its form was requested.
document.addEventListener("htmx:beforeOnLoad", ({ detail }) => {
  const { target } = detail;
  if (target.isConnected || !target.matches(".entry")) return;
  const row = rowBy(target.closest("[id]").id);
  if (row) detail.target = linkOf(row);
});

document.addEventListener("htmx:load", ({ detail: { elt } }) => {
  if (elt.matches(".rename") && rowOf(elt)) settle(elt);
});

document.addEventListener("htmx:beforeRequest", ({ detail: { requestConfig } }) => {
  if (requestConfig.elt.matches(".rename")) pretend(requestConfig.elt);
});

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { requestConfig, xhr } = detail;
  if (requestConfig.elt.matches(".rename") && xhr.status === 422) detail.target = requestConfig.elt;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt } = detail.requestConfig;
  if (!elt.matches(".rename")) return;
  if (isDone(detail)) finish(elt.dataset.key);
  else if (elt.isConnected) revert(elt);
});

function settle(form) {
  const row = rowOf(form);
  const link = linkOf(row);
  const picture = link.querySelector(".thumb")?.cloneNode(true);
  restore(row);
  link.hidden = true;
  if (picture) form.prepend(picture);
  const field = form.querySelector(".input");
  field.focus();
  field.setSelectionRange(0, field.value.length - field.dataset.extension.length);
}

// A page that only renames has such a form, too.
function leave(form, event) {
  if (!rowOf(form)) return;
  const link = linkOf(rowOf(form));
  event.preventDefault();
  form.remove();
  link.hidden = false;
  link.focus();
}

function pretend(form) {
  const row = rowOf(form);
  const link = linkOf(row);
  const label = link.querySelector(".entry-name");
  before.set(row, [...label.childNodes]);
  label.replaceChildren(makeElement("bdi", { textContent: form.elements.name.value }));
  form.hidden = true;
  link.hidden = false;
  link.focus();
  row.classList.add("pending");
}

function revert(form) {
  restore(rowOf(form));
  linkOf(rowOf(form)).hidden = true;
  form.hidden = false;
  form.querySelector(".input").focus();
}

function restore(row) {
  const nodes = before.get(row);
  if (nodes) row.querySelector(".entry-name").replaceChildren(...nodes);
  before.delete(row);
  row.classList.remove("pending");
}

function finish(key) {
  const row = document.getElementById(key);
  if (!row) return;
  say(fill(words.files.renamed, { name: nameOf(row) }));
  adopt();
  linkOf(row).focus();
}
