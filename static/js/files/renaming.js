// Rename in place: the form replaces the name, and looks like a name while the server hasn't confirmed it.
import { isDone } from "../errors.js";
import { on, onClick } from "../events.js";
import { linkOf, rowBy, rowOf } from "../selection/rows.js";
import { adopt } from "../selection/selection.js";
import { fill, words } from "../words.js";
import { nameOf } from "./rows.js";

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
on(document, "keydown", ({ key, target }) => {
  if (key === "Escape") rowOf(target)?.querySelector(".rename [data-cancel]")?.click();
});

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

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { requestConfig, xhr } = detail;
  if (requestConfig.elt.matches(".rename") && xhr.status === 422) detail.target = requestConfig.elt;
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt } = detail.requestConfig;
  if (!elt.matches(".rename")) return;
  if (isDone(detail)) finish(elt.dataset.key);
  else if (elt.isConnected) elt.querySelector(".input").focus();
});

function settle(form) {
  const link = linkOf(rowOf(form));
  const picture = link.querySelector(".thumb")?.cloneNode(true);
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

function finish(key) {
  const row = document.getElementById(key);
  if (!row) return;
  document.getElementById("said").textContent = fill(words.files.renamed, { name: nameOf(row) });
  adopt();
  linkOf(row).focus();
}
