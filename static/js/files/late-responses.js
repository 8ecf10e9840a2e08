// Responses that arrive after the user has opened another folder must not change it.
import { showToast } from "../toasts.js";
import { refresh } from "./swaps.js";

let lastOpened = null;

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.target.id === "main") lastOpened = detail.xhr;
});

// If the user opens several folders before the first one arrives, only the last one counts.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.target.id === "main" && event.detail.xhr !== lastOpened) event.preventDefault();
});

// The page no longer contains the source of a later response, so its events reach only the old #main.
document.addEventListener("htmx:beforeSwap", ({ detail: { shouldSwap, target } }) => {
  if (!shouldSwap || target.id !== "main") return;
  target.addEventListener("htmx:beforeOnLoad", showMessages);
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    target.addEventListener(name, ({ detail }) => document.dispatchEvent(new CustomEvent(name, { detail })));
  }
});

function showMessages(event) {
  const { requestConfig, xhr } = event.detail;
  if (xhr.getResponseHeader("HX-Redirect")) return;
  event.preventDefault();
  if (requestConfig.verb === "get") return;
  const newTarget = xhr.getResponseHeader("HX-Retarget");
  if (xhr.status >= 400 && newTarget === null) {
    document.dispatchEvent(new CustomEvent("htmx:responseError", { detail: event.detail }));
    return;
  }
  const page = new DOMParser().parseFromString(xhr.response, "text/html");
  const toasts = [...page.querySelectorAll(".toast")].map(({ outerHTML }) => outerHTML);
  window.htmx.swap("#toasts", toasts.join(""), { swapStyle: "beforeend" });
  // Nothing was moved yet: the server asks about taken names.
  if (newTarget === "#move") showToast(page.getElementById("move-title").textContent);
  refresh();
}
