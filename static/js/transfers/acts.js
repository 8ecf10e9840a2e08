// Actions that don't leave the page. Canceling asks for confirmation; the others happen immediately.
import { onPlainClick } from "../events.js";

onPlainClick("a[data-remove]", (link) => {
  if (!document.getElementById("remove")) return false;
  cancel(link.closest(".transfer"));
});
onPlainClick("button[data-post]", (button) => {
  post(button, button.formAction);
});

export function urlOf(row, action) {
  const root = new URL(document.getElementById("transfers").dataset.root, location.href);
  return new URL(`${row.id}/${action}/`, root);
}

export function cancel(row) {
  window.htmx.ajax("GET", urlOf(row, "loss").href, { source: "#title", target: "#remove", swap: "innerHTML" });
}

export function clear(row) {
  post(row.querySelector(".more"), urlOf(row, "remove").href);
}

export function post(button, url) {
  if (button.hasAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  window.htmx.ajax("POST", url, { source: button, swap: "none" }).finally(() => button.removeAttribute("aria-busy"));
}
