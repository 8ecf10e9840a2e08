import { focusedRow, listenForKeys, press, walk } from "../selection/keys.js";
import { allRows } from "../selection/rows.js";
import { chosenCount, onlyChosenRow } from "../selection/selection.js";
import { rename } from "./on-first-use.js";
import { deleteRow, moveRow } from "./row-acts.js";

listenForKeys({
  walks: {
    ArrowDown: (event) => focusedRow() && walk(event, toLine(1)),
    ArrowUp: (event) => focusedRow() && walk(event, toLine(-1)),
    ArrowRight: (event) => focusedRow() && isGrid() && walk(event, forward()),
    ArrowLeft: (event) => focusedRow() && isGrid() && walk(event, -forward()),
  },
  single: {
    u: press("#up"),
    Backspace: press("#up"),
    n: press("#new"),
    v: () => actOn(moveRow, "#move-chosen"),
    F2: () => {
      const row = onlyChosenRow() ?? focusedRow();
      if (row) rename(row);
    },
    Delete: () => actOn(deleteRow, "#delete-chosen"),
  },
});

function actOn(actOnRow, button) {
  if (chosenCount()) press(button)();
  else if (focusedRow()) actOnRow(focusedRow());
}

const forward = () => (document.documentElement.dir === "rtl" ? -1 : 1);
const isGrid = () => document.querySelector("#listing .grid") !== null;

// Return the steps to the nearest tile of the next line. Lines that end a section are shorter.
function toLine(step) {
  const rows = allRows();
  const at = rows.indexOf(focusedRow());
  const top = (place) => rows[place]?.offsetTop;
  const apart = (place) => Math.abs(rows[place].offsetLeft - rows[at].offsetLeft);
  let next = at;
  while (top(next) === top(at)) next += step;
  for (let place = next; rows[place] && top(place) === top(next); place += step)
    if (apart(place) < apart(next)) next = place;
  return next - at;
}
