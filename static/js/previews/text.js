// Whether lines are wrapped is remembered, once somebody has said so.
const memory = "ferry-wrap";

export function mount(viewer, signal) {
  const body = viewer.querySelector(".text");
  body?.addEventListener("htmx:afterSwap", () => body.focus({ preventScroll: true }), { signal });
  const box = viewer.querySelector("#wrap");
  if (!box) return;
  const wanted = recall();
  if (wanted) box.checked = wanted === "on";
  box.addEventListener("change", () => remember(box.checked), { signal });
}

// Storage may be forbidden.
function recall() {
  try {
    return localStorage.getItem(memory);
  } catch {
    return null;
  }
}

function remember(isWrapped) {
  try {
    localStorage.setItem(memory, isWrapped ? "on" : "off");
  } catch {
    return;
  }
}
