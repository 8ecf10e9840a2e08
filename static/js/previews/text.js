// Remember whether to wrap lines, once the user has chosen.
import { browser } from "../storage.js";

const STORAGE_KEY = "ferry-wrap";

export function mount(viewer, on) {
  const body = viewer.querySelector(".text");
  if (body) on(body, "htmx:afterSwap", () => body.focus({ preventScroll: true }));
  const box = viewer.querySelector("#wrap");
  if (!box) return;
  const choice = browser.read(STORAGE_KEY);
  if (choice) box.checked = choice === "on";
  on(box, "change", () => browser.write(STORAGE_KEY, box.checked ? "on" : "off"));
}
