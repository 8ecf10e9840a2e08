// Actions that don't leave the page. Canceling asks for confirmation; the others happen immediately.
import { onPlainClick } from "../events.js";

onPlainClick("a[data-remove]", (link) => {
  if (!document.getElementById("remove")) return false;
  cancel(link.closest(".transfer"));
});
// Links to a page that is also a dialog here fill that dialog.
onPlainClick("a[data-fill]", (link) => {
  const dialog = document.getElementById(link.dataset.fill);
  if (dialog) fill(dialog, link.href);
  return dialog !== null;
});
onPlainClick("button[data-post]", (button) => {
  button.closest("[popover]")?.hidePopover();
  post(button, button.formAction);
});

// Buttons of the same name keep the focus. If the last one went with its banner, its opposite gets it.
document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  if (target?.id !== "speed" || !target.contains(document.activeElement)) return;
  document.addEventListener("htmx:afterSwap", focusSlow, { once: true });
});

function focusSlow() {
  if (document.activeElement === document.body) document.getElementById("slow")?.focus({ preventScroll: true });
}

// Details refresh themselves until they are gone.
const details = document.getElementById("transfer-details");
onPlainClick("a[data-details]", ({ href }) => {
  if (!details) return false;
  window.htmx.ajax("GET", href, { source: "#title", target: details, swap: "innerHTML" });
});
details?.addEventListener("close", () => details.replaceChildren());

const root = () => new URL(document.getElementById("transfers").dataset.root, location.href);

export const urlOf = (row, action) => new URL(`${row.id}/${action}/`, root());

// What the service can do with a transfer, and the person may.
export const canAct = (row, act) => row.querySelector(".more").dataset.acts.split(" ").includes(act);

// Put what is selected behind another transfer in the queue, or at its top.
export function place(row, fields, after) {
  post(row.querySelector(".more"), new URL(`order/?after=${after}`, root()).href, fields);
}

// Pause, continue, or move a transfer.
export function change(row, act) {
  post(row.querySelector(".more"), new URL(`change/?act=${act}&entry=${row.id}`, root()).href);
}

export function cancel(row) {
  fill("#remove", urlOf(row, "remove").href);
}

function fill(target, url) {
  window.htmx.ajax("GET", url, { source: "#title", target, swap: "innerHTML" });
}

export function clear(row) {
  post(row.querySelector(".more"), urlOf(row, "remove").href);
}

export function post(button, url, values = {}) {
  if (button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  window.htmx
    .ajax("POST", url, { source: button, swap: "none", values })
    .finally(() => button.removeAttribute("aria-busy"));
}
