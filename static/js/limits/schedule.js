// The table of half hours: paint with a mouse, or with a finger that rests first; move with the arrow keys.
import { on } from "../events.js";
import { Hold } from "../selection/hold.js";

const DAY = 48;
const STEPS = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -DAY, ArrowDown: DAY };

const table = document.querySelector(".week table");
const boxes = [...table.querySelectorAll("input")];
const hold = new Hold();
let stroke = null; // its first box, the mark that it paints, all marks before it, and whether a finger paints

// The table is one stop for the Tab key.
function enter(box) {
  for (const each of boxes) each.tabIndex = each === box ? 0 : -1;
}

enter(boxes[0]);
on(table, "focusin", ({ target }) => enter(target));

on(table, "keydown", (event) => {
  const at = boxes.indexOf(event.target);
  const start = at - (at % DAY);
  const ends = { Home: start, End: start + DAY - 1 };
  const isBackward = getComputedStyle(table).direction === "rtl" && /Left|Right/.test(event.key);
  const next = boxes[ends[event.key] ?? at + (STEPS[event.key] ?? NaN) * (isBackward ? -1 : 1)];
  if (!next || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  if (event.shiftKey) next.checked = event.target.checked;
  next.focus();
});

// Paint all half hours between two corners. If both are the same, a click of the mouse does that.
function paint(box) {
  const [from, to] = [boxes.indexOf(stroke.box), boxes.indexOf(box)];
  const isBetween = (value, one, other) => value >= Math.min(one, other) && value <= Math.max(one, other);
  for (const [index, each] of boxes.entries()) {
    const isDay = isBetween(Math.floor(index / DAY), Math.floor(from / DAY), Math.floor(to / DAY));
    const isInside = isDay && isBetween(index % DAY, from % DAY, to % DAY) && (stroke.isHeld || from !== to);
    each.checked = isInside ? stroke.mark : stroke.before[index];
  }
}

function begin(box, isHeld) {
  stroke = { box, isHeld, mark: !box.checked, before: boxes.map(({ checked }) => checked) };
  paint(box);
}

const boxAt = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest(".week td > input");

on(table, "pointerdown", (event) => {
  const box = event.target.closest("td > input");
  hold.end();
  hold.isDone = false;
  if (!box || event.button !== 0) return;
  if (event.pointerType === "mouse") begin(box, false);
  else hold.start(event, () => begin(box, true));
});

on(document, "pointermove", (event) => {
  hold.move(event);
  const box = stroke && boxAt(event);
  if (box) paint(box);
});

// A finger that has rested paints instead of scrolling.
table.addEventListener("touchmove", (event) => stroke && event.preventDefault(), { passive: false });
on(table, "contextmenu", (event) => hold.isActive && event.preventDefault());
on(table, "dragstart", (event) => event.preventDefault());

// A hold may end with a click, which would mark its box once more. Keys click, too, but not with a button.
on(table, "click", (event) => hold.isDone && event.detail > 0 && event.preventDefault());

on(document, "pointerup pointercancel", () => {
  hold.end();
  stroke = null;
});
