import { setIcon } from "./icons.js";
import { words } from "./words.js";

const region = document.getElementById("toasts");
const template = document.getElementById("toast");

document.addEventListener("htmx:sendError", ({ detail }) => report(detail, "unreachable"));
document.addEventListener("htmx:timeout", ({ detail }) => report(detail, "late"));
document.addEventListener("htmx:responseError", ({ detail }) => report(detail, "failed"));

// The time a toast stays is an animation, which stops under the pointer and the focus.
region.addEventListener("animationend", ({ animationName, target }) => {
  if (animationName === "leave") target.remove();
});

document.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || document.querySelector("dialog[open], :popover-open")) return;
  region.lastElementChild?.remove();
});

// A live region reads out only what arrives after the page.
const arrived = [...region.children];
if (arrived.length) setTimeout(() => region.replaceChildren(...arrived), 100);

export function tell(words, act, label) {
  const toast = showToast(words, act, label);
  toast.classList.remove("error");
  setIcon(toast, "circle-check");
}

// `act` gives the toast a button, which is called "Try again" unless `label` says otherwise.
export function showToast(words, act, label) {
  const toast = template.content.firstElementChild.cloneNode(true);
  const button = toast.querySelector("button");
  toast.querySelector("p").textContent = words;
  if (label) button.textContent = label;
  if (act) {
    button.addEventListener("click", () => {
      toast.remove();
      act();
    });
  } else {
    button.remove();
  }
  dropTwins(words);
  region.append(toast);
  return toast;
}

export function offerReload(reload = () => location.reload()) {
  showToast(words.shell.incomplete, reload, words.shell.reload);
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

function dropTwins(words) {
  for (const toast of [...region.children]) {
    if (toast.querySelector("p")?.textContent === words) toast.remove();
  }
}
