// Remember whether to wrap lines, once the user has chosen.
import { browser } from "../storage.js";

const STORAGE_KEY = "ferry-wrap";

export function mount(viewer, signal) {
  const body = viewer.querySelector(".text");
  body?.addEventListener("htmx:afterSwap", () => body.focus({ preventScroll: true }), { signal });
  const box = viewer.querySelector("#wrap");
  if (!box) return;
  const choice = browser.read(STORAGE_KEY);
  if (choice) box.checked = choice === "on";
  box.addEventListener("change", () => browser.write(STORAGE_KEY, box.checked ? "on" : "off"), { signal });
}
