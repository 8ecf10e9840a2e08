// Responses that arrive after the user has opened another folder must not change it.
import { showToast } from "../toasts.js";
import { fateOf, isLast, open } from "./late.js";
import { refresh } from "./swaps.js";

document.addEventListener("htmx:beforeRequest", ({ detail }) => detail.target.id === "main" && open(detail.xhr));

document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (event.detail.target.id === "main" && !isLast(event.detail.xhr)) event.preventDefault();
});

// The page no longer contains the source of a later response, so its events reach only the old #main.
document.addEventListener("htmx:beforeSwap", ({ detail: { shouldSwap, target } }) => {
  if (!shouldSwap || target.id !== "main") return;
  target.addEventListener("htmx:beforeOnLoad", showMessages);
  for (const name of ["htmx:sendError", "htmx:timeout"]) target.addEventListener(name, repeat);
});

const repeat = ({ type, detail }) => document.dispatchEvent(new CustomEvent(type, { detail }));

function showMessages(event) {
  const { detail } = event;
  const { verb } = detail.requestConfig;
  const [redirect, target] = ["HX-Redirect", "HX-Retarget"].map((name) => detail.xhr.getResponseHeader(name));
  const fate = fateOf({ verb, status: detail.xhr.status, redirect, target });
  if (fate !== "follow") event.preventDefault();
  if (fate === "fail") repeat({ type: "htmx:responseError", detail });
  if (fate !== "ask" && fate !== "tell") return;
  const page = new DOMParser().parseFromString(detail.xhr.response, "text/html");
  const toasts = [...page.querySelectorAll(".toast")].map(({ outerHTML }) => outerHTML);
  window.htmx.swap("#toasts", toasts.join(""), { swapStyle: "beforeend" });
  if (fate === "ask") showToast(page.getElementById("move-title").textContent);
  refresh();
}
