// What stays as it was when the server's answer takes the place of the listing: the chosen rows,
// the focus, and the words that are read out.
import { isPlain } from "../shortcuts.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";
import { allRows, linkOf, rowBy, rowOf } from "./rows.js";
import { adopt, clear, keep, show } from "./selection.js";

let focused = [];
let wasStale = false;
let query = "";
let isDown = false;
let isAwake = false;
let isQuiet = false;

const listing = () => document.getElementById("listing");
const queryOf = () => listing().querySelector(":scope > [name=q]")?.value ?? "";
const isBehind = (elt) => elt?.id === "refresh" || elt?.id === "look";

for (const name of ["pointerdown", "pointerup", "pointercancel"]) {
  document.addEventListener(name, ({ type }) => (isDown = type === "pointerdown"), true);
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const { elt } = detail.requestConfig;
  isQuiet = isBehind(elt);
  if (!detail.shouldSwap || detail.target?.id !== "listing") return;
  // An unpacked folder has arrived. The next poll brings it again to a reader who is busy now; one
  // who has scrolled far would lose the place, and gets only the message.
  const isArrival = elt.id === "unpacking";
  if ((isQuiet || isArrival) && isBusy()) {
    detail.shouldSwap = false;
    if (isQuiet && isDown) document.addEventListener("pointerup", refresh, { once: true });
    return;
  }
  if (isFar() && (isQuiet || isArrival)) {
    if (isQuiet) detail.shouldSwap = false;
    else detail.swapOverride = "none";
    return;
  }
  focused = candidates(elt);
  wasStale = listing().classList.contains("stale");
  query = queryOf();
  if (elt.closest("#delete, #move")) clear();
  else keep(allRows());
});

document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target.id === "listing") settle(target);
  if (target.id === "packed") fetchPacked(target);
  if (target.id === "main") {
    target.focus({ preventScroll: true });
    show();
  }
});

document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const { elt, successful } = detail;
  if (successful && elt.id === "try-now" && listing().classList.contains("stale")) showToast(words.files.still);
});

// A refresh behind the page sorts nothing anew and has nothing to say.
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.id === "said" && isQuiet) detail.shouldSwap = false;
});

// htmx would keep the new tab that somebody asked for in this one.
document.addEventListener(
  "click",
  (event) => {
    if (!isPlain(event) && event.target.closest("#main a[href]")) event.stopPropagation();
  },
  true,
);

// Whoever chose stays with what was chosen: the answer is a download, and leads to no other page.
function fetchPacked(link) {
  link.click();
  tell(link.textContent);
}

export function refresh() {
  const look = document.getElementById("look");
  if (look) window.htmx.trigger(look, "refresh");
}

const isFar = () => document.querySelectorAll("#listing .window:not(.ghosts)").length > 1;

function isBusy() {
  return isDown || document.querySelector("#listing .rename, dialog[open], #entry-menu:popover-open") !== null;
}

function candidates(elt) {
  const row = rowOf(document.activeElement);
  if (!elt.closest("#delete, #move")) return row ? [row.id] : [];
  const gone = new Set([...elt.querySelectorAll("[name=entry]")].map(({ value }) => value));
  const rows = allRows();
  const first = rows.findIndex(({ id }) => gone.has(id));
  const stays = ({ id }) => !gone.has(id);
  return [...rows.slice(first).filter(stays), ...rows.slice(0, Math.max(first, 0)).filter(stays).reverse()]
    .map(({ id }) => id)
    .concat("title");
}

function settle(fresh) {
  const field = document.getElementById("q");
  if (document.activeElement !== field) field.value = queryOf();
  if (queryOf() !== query && !document.getElementById("every").disabled) clear();
  adopt(fresh);
  if (wasStale && !fresh.classList.contains("stale")) tell(words.files.fresh);
  const made = rowBy(fresh.dataset.new);
  if (made) return linkOf(made).focus();
  if (!isFocusLost() || !focused.length) return;
  const row = focused.map(rowBy).find(Boolean);
  if (row) linkOf(row).focus();
  else document.getElementById("title").focus();
}

// A closed dialog and a button that is switched off keep the focus for a moment.
function isFocusLost() {
  const { activeElement } = document;
  return (
    activeElement === document.body ||
    activeElement.id === "main" ||
    activeElement.disabled ||
    !activeElement.checkVisibility()
  );
}

// A service that is away is asked again.
async function wake() {
  if (isAwake || !listing()?.matches(".stale")) return;
  isAwake = true;
  const { live } = await import("../clock.js");
  live(() => {
    const refresh = document.getElementById("refresh");
    if (refresh) window.htmx.trigger(refresh, "tick");
    return 30_000;
  }, 30_000);
}
document.addEventListener("htmx:load", wake);
wake();
