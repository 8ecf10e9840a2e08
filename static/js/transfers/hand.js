// Choose transfers, and act on one, several, or all of them.
import { write } from "../copying.js";
import { on, onClick } from "../events.js";
import { focusedRow, listenForKeys } from "../selection/keys.js";
import { allRows } from "../selection/rows.js";
import { adopt, chosenCount, clear as clearSelection, isChosen } from "../selection/selection.js";
import "../selection/touch.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";
import { canAct, cancel, clear } from "./acts.js";
import "./menu.js";
import "./order.js";

// Buttons that the bar shows before any row is chosen.
const USUAL = ["pause", "move"];

const form = () => document.getElementById("entries");

// The bar shows what does something for at least one chosen row.
function fit() {
  if (!form()) return;
  const rows = allRows().filter(isChosen);
  const count = chosenCount();
  for (const button of form().querySelectorAll("[data-for]")) {
    const act = button.dataset.for;
    const fits = rows.length < count || rows.some((row) => canAct(row, act));
    button.hidden = count ? !fits : !USUAL.includes(act);
  }
  const [canceling, removing] = form().querySelectorAll("#cancel-chosen span");
  removing.hidden = !count || rows.length < count || rows.some((row) => canAct(row, "cancel"));
  canceling.hidden = !removing.hidden;
}
document.addEventListener("selection-shown", fit);
fit();

document.addEventListener("transfers-shown", () => chosenCount() && adopt());

on(document, "htmx:afterRequest", ({ detail: { xhr, requestConfig } }) => {
  const isRemoval = form() && new URL(requestConfig.path, location.href).pathname === new URL(form().action).pathname;
  if (isRemoval && xhr.status === 204) clearSelection();
});

onClick("[data-links]", async (button, event) => {
  event.preventDefault();
  try {
    const answer = await fetch(button.formAction, { method: "POST", body: new URLSearchParams(fields()) });
    if (!answer.ok || answer.redirected || !(await write(await answer.text()))) throw new Error(String(answer.status));
    tell(words.transfers.links);
  } catch {
    showToast(words.transfers.gone);
  }
});

const fields = () => [...new FormData(form())].map(([name, value]) => [name, String(value)]);

listenForKeys({
  single: {
    p: () =>
      actOn((row) => row.querySelector(".pause")?.click(), '#entries [data-for="pause"], #entries [data-for="resume"]'),
    Delete: () => actOn(removeRow, "#cancel-chosen"),
  },
});

function actOn(actOnRow, buttons) {
  if (!chosenCount()) return focusedRow() && actOnRow(focusedRow());
  [...document.querySelectorAll(buttons)].find((button) => !button.hidden)?.click();
}

const removeRow = (row) => (canAct(row, "cancel") ? cancel(row) : canAct(row, "clear") && clear(row));
