// Whether lines are wrapped is remembered, once somebody has said so.
import { browser } from "../storage.js";

const memory = "ferry-wrap";

export function mount(viewer, signal) {
  const body = viewer.querySelector(".text");
  body?.addEventListener("htmx:afterSwap", () => body.focus({ preventScroll: true }), { signal });
  const box = viewer.querySelector("#wrap");
  if (!box) return;
  const wanted = browser.read(memory);
  if (wanted) box.checked = wanted === "on";
  box.addEventListener("change", () => browser.write(memory, box.checked ? "on" : "off"), { signal });
}
