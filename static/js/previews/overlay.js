// A preview over the listing. Back closes it, and the user is back where they were.
import { makeElement } from "../elements.js";
import { onCapture, onPlainClick } from "../events.js";
import { linkOf, rowBy } from "../selection/rows.js";
import { load, mount, turnTo, unmount, viewer } from "./viewer.js";

let title = "";

const overlay = () => document.getElementById("overlay");
const toasts = () => document.getElementById("toasts");

export async function open(url, { isNew = true, listing = location.href } = {}) {
  if (overlay()) return turnTo(url);
  const preview = await load(url);
  if (!preview || overlay()) return;
  const status = makeElement("p", { id: "viewer-said", className: "sr", role: "status" });
  const dialog = makeElement("dialog", { id: "overlay", className: "overlay" }, preview.viewer, status);
  dialog.setAttribute("aria-labelledby", "viewer-name");
  dialog.dataset.listing = listing;
  title = document.title;
  if (isNew) history.pushState({ isPreview: true, listing }, "", url);
  document.title = preview.title;
  document.body.append(dialog);
  dialog.showModal();
  // A modal dialog hides everything outside it, also from screen readers, so move the toasts inside.
  dialog.append(toasts());
  viewer().querySelector("#back").focus({ focusVisible: false });
  mount(preview.viewer, { isPlaying: isNew && preview.viewer.dataset.kind === "audio" });
}

export function close() {
  if (!overlay()) return;
  const { key } = viewer().dataset;
  unmount();
  document.body.append(toasts());
  viewer().querySelector(":popover-open")?.hidePopover();
  overlay().close();
  overlay().remove();
  document.title = title;
  const row = rowBy(key);
  if (!row) return;
  const { top, bottom } = row.getBoundingClientRect();
  linkOf(row).focus({ preventScroll: top >= 0 && bottom <= innerHeight });
}

onPlainClick("#overlay [data-back]", () => history.back());

// Browsers close dialogs on Esc without a script.
onCapture("close", ({ target }) => target === overlay() && history.back());
