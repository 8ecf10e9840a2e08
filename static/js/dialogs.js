import { isDone } from "./errors.js";
import { onPlainClick } from "./events.js";

if (!("closedBy" in HTMLDialogElement.prototype && "commandForElement" in HTMLButtonElement.prototype)) {
  import("./dialog-fallbacks.js");
}

const dialogsToOpen = new Set();

// Links to a page that is also a dialog here open the dialog, and links out of that dialog close it.
onPlainClick("a[data-dialog]", (opener) => {
  const dialog = document.getElementById(opener.dataset.dialog);
  if (!dialog) return false;
  opener.closest("[popover]")?.hidePopover();
  dialog.showModal();
});
onPlainClick("dialog a[data-close]", (link) => link.closest("dialog").close());

// If a dialog's next step arrives after the dialog was closed, it stays closed.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { target, requestConfig } = detail;
  if (!target?.matches("dialog.dialog:not([open])")) return;
  if (target.contains(requestConfig.elt)) detail.shouldSwap = false;
  else dialogsToOpen.add(target);
});

// Open a dialog once htmx has filled it and has initialized its content.
document.addEventListener("htmx:afterSettle", ({ detail: { target } }) => {
  if (!dialogsToOpen.delete(target) || !target.firstElementChild) return;
  // Closing the menu first gives its button the focus, to which the dialog then returns it.
  document.querySelector(".menu:popover-open")?.hidePopover();
  target.showModal();
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const dialog = detail.requestConfig.elt.closest("dialog.dialog");
  // Requests that fill the dialog itself, such as the next step, leave it open.
  if (!dialog || detail.xhr.status === 422 || dialog.contains(detail.target)) return;
  dialog.close();
  if (isDone(detail)) for (const field of dialog.querySelectorAll(".input")) reset(field);
});

function reset(field) {
  field.value = "";
  field.removeAttribute("aria-invalid");
  field.closest(".field").querySelector(".error")?.remove();
}
