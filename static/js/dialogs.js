import { isDone } from "./errors.js";
import { isPlain } from "./shortcuts.js";

if (!("closedBy" in HTMLDialogElement.prototype && "commandForElement" in HTMLButtonElement.prototype)) {
  import("./dialog-fallbacks.js");
}

const opening = new Set();

// Links that lead to a page of their own open its dialog instead, where there is one.
document.addEventListener("click", (event) => {
  const { target } = event;
  if (!isPlain(event)) return;
  const opener = target.closest("a[data-dialog]");
  const dialog = opener
    ? document.getElementById(opener.dataset.dialog)
    : target.closest("a[data-close]")?.closest("dialog");
  if (!dialog) return;
  event.preventDefault();
  opener?.closest("[popover]")?.hidePopover();
  if (opener) dialog.showModal();
  else dialog.close();
});

// The next step of a dialog may arrive after it was closed: it stays closed.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { target, requestConfig } = detail;
  if (!target?.matches("dialog.dialog:not([open])")) return;
  if (target.contains(requestConfig.elt)) detail.shouldSwap = false;
  else opening.add(target);
});

// A dialog opens as soon as htmx has filled it and what is in it works.
document.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
  if (opening.delete(target) && target.firstElementChild) target.showModal();
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const dialog = detail.requestConfig.elt.closest("dialog.dialog");
  // What a dialog asks for itself, such as the next step, leaves it open.
  if (!dialog || detail.xhr.status === 422 || dialog.contains(detail.target)) return;
  dialog.close();
  if (isDone(detail)) for (const field of dialog.querySelectorAll(".input")) renew(field);
});

function renew(field) {
  field.value = "";
  field.removeAttribute("aria-invalid");
  field.closest(".field").querySelector(".error")?.remove();
}
