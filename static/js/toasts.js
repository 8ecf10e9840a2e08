import { setIcon } from "./elements.js";
import { words } from "./words.js";

const region = document.getElementById("toasts");
const template = document.getElementById("toast");

document.addEventListener("htmx:sendError", ({ detail }) => report(detail, "unreachable"));
document.addEventListener("htmx:timeout", ({ detail }) => report(detail, "late"));
document.addEventListener("htmx:responseError", ({ detail }) => report(detail, "failed"));

// An animation times how long a toast stays. It pauses under the pointer and the focus.
region.addEventListener("animationend", ({ animationName, target }) => {
  if (animationName === "leave") target.remove();
});

// A toast may cover what the user wants to reach.
region.addEventListener("click", ({ target }) => {
  if (!target.closest("a, button")) target.closest(".toast")?.remove();
});

document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || document.querySelector("dialog[open], :popover-open")) return;
  region.lastElementChild?.remove();
});

// Screen readers announce only what is added to a live region after the page has loaded.
const initialToasts = [...region.children];
if (initialToasts.length) setTimeout(() => region.replaceChildren(...initialToasts), 100);

export function tell(message, action, label) {
  const toast = showToast(message, action, label);
  toast.classList.remove("error");
  setIcon(toast, "circle-check");
}

// `action` adds a button, which is labeled "Try again" unless `label` is given.
export function showToast(message, action, label) {
  const toast = template.content.firstElementChild.cloneNode(true);
  const button = toast.querySelector("button");
  toast.querySelector("p").textContent = message;
  if (label) button.textContent = label;
  if (action) {
    button.addEventListener("click", () => {
      toast.remove();
      action();
    });
  } else {
    button.remove();
  }
  for (const twin of [...region.children]) if (twin.querySelector("p")?.textContent === message) twin.remove();
  region.append(toast);
  return toast;
}

function report({ elt, requestConfig }, reason) {
  if (elt.closest("[data-quiet]")) return;
  const isRepeatable = requestConfig.verb === "get";
  showToast(words.shell[reason], isRepeatable ? () => repeat(elt, requestConfig.path) : null);
}

function repeat(elt, path) {
  if (!elt.isConnected) return location.reload();
  elt.focus?.({ preventScroll: true });
  window.htmx.ajax("get", path, { source: elt });
}
