// The site by a television's remote: arrows move the focus to the nearest control, and Back leads back.
import { isPlain, on } from "./events.js";
import { tab } from "./storage.js";

const STORAGE_KEY = `ferry-pressed ${location.pathname}`;
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const TEXTS = "textarea, input:not([type=checkbox], [type=radio], [type=range])";
// What people only read, and have to scroll.
const SCROLLERS = "[tabindex='0']:not(.strip, :has(button, input))";
const CONTROLS = `a[href], button, input:not([type=hidden]), select, textarea, summary, ${SCROLLERS}`;
// Where the focus begins: at a row, in the player, in the navigation, or anywhere.
const FIRST = ["#listing .entry", "#controls [data-do=toggle]", "nav [aria-current]", CONTROLS];
// What Samsung's and LG's remotes send, whose keys have no names.
const NAMES = {
  19: "MediaPause",
  412: "MediaRewind",
  413: "MediaStop",
  415: "MediaPlay",
  417: "MediaFastForward",
  461: "GoBack",
  10009: "GoBack",
  10252: "MediaPlayPause",
};
const SEEN = { visibilityProperty: true };
// Pixels by which the navigation counts as farther away: what is in the page comes first.
const APART = 300;
const film = () => document.getElementById("film");
const place = () => [...document.querySelectorAll("dialog[open], :popover-open")].at(-1) ?? document.body;
const PLAYER = {
  MediaPlayPause: () => press("[data-do=toggle]"),
  MediaPlay: () => film().paused && press("[data-do=toggle]"),
  MediaPause: () => !film().paused && press("[data-do=toggle]"),
  MediaStop: () => press("#back"),
  MediaRewind: () => press("[data-do=back]"),
  MediaFastForward: () => press("[data-do=forward]"),
  MediaTrackNext: () => press("#next"),
  MediaTrackPrevious: () => press("#previous"),
};

// Other scripts come first: what they have used isn't for this one.
on(window, "keydown", (event) => {
  const key = NAMES[event.keyCode] ?? event.key;
  if (event.defaultPrevented || !isPlain(event)) return;
  const act = (film() && PLAYER[key]) ?? ACTIONS[key] ?? walk;
  if (act(event, DIRECTIONS[key])) event.preventDefault();
});

// In lists, other scripts walk through the rows alone, past their buttons.
on(
  window,
  "keydown",
  (event) => {
    if (!isPlain(event) || !event.target.closest("#listing, #groups") || !walk(event, DIRECTIONS[event.key])) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  },
  { capture: true },
);

const ACTIONS = {
  Enter: ({ target }) => target.matches("[type=checkbox], [type=radio], select") && pick(target),
  Escape: (event) => !place().matches("[popover], dialog") && !event.repeat && leave(event),
  GoBack: leave,
  BrowserBack: leave,
};

function press(selector) {
  const control = document.querySelector(selector);
  control?.click();
  return control !== null;
}

function pick(target) {
  if (target.matches("select")) target.showPicker?.();
  else target.click();
  return true;
}

// Close what is open, leave a text, or go back.
function leave({ target }) {
  const top = place();
  if (top.matches("[popover]")) top.hidePopover();
  else if (top.matches("dialog")) top.close();
  else if (target.matches(TEXTS)) target.blur();
  else if (!press("#viewer #back")) history.back();
  return true;
}

function walk({ target }, direction) {
  if (!direction || keeps(target, direction)) return false;
  const next = target === document.body ? first() : nearest(target, direction);
  if (!next) return false;
  next.focus({ focusVisible: true });
  next.scrollIntoView({ block: "nearest" });
  return true;
}

// Texts keep the keys that move within them.
function keeps(target, [x, y]) {
  const isForward = x + y > 0;
  if (target.matches("textarea"))
    return isForward ? target.selectionEnd < target.value.length : target.selectionStart > 0;
  if (target.matches(SCROLLERS)) return scrolls(target, x !== 0, isForward);
  return x !== 0 && target.matches("input:not([type=checkbox], [type=radio])");
}

function scrolls(target, isSideways, isForward) {
  const { scrollLeft, scrollWidth, clientWidth, scrollTop, scrollHeight, clientHeight } = target;
  const [at, end] = isSideways ? [scrollLeft, scrollWidth - clientWidth] : [scrollTop, scrollHeight - clientHeight];
  return isForward ? at < end - 1 : at > 0;
}

function first() {
  return FIRST.flatMap((each) => controls(each)).at(0);
}

function nearest(from, direction) {
  const box = from.getBoundingClientRect();
  const others = controls(CONTROLS).filter((each) => each !== from);
  const isBeside = (each) => each.closest("main") === from.closest("main");
  const distances = new Map(
    others.map((each) => [each, distance(box, each.getBoundingClientRect(), direction) + (isBeside(each) ? 0 : APART)]),
  );
  return others.filter((each) => distances.get(each) < Infinity).sort((a, b) => distances.get(a) - distances.get(b))[0];
}

// What is straight ahead counts as nearer than what is aside. Return Infinity for what isn't ahead.
function distance(from, to, [x, y]) {
  const [along, across] = x ? [SIDEWAYS, UPRIGHT] : [UPRIGHT, SIDEWAYS];
  const isForward = x + y > 0;
  const [near, middle] = isForward ? [along.start(to), along.middle(from)] : [-along.end(to), -along.middle(from)];
  if (near < middle) return Infinity;
  return gap(along, from, to) + 3 * gap(across, from, to) + Math.abs(across.middle(to) - across.middle(from)) / 100;
}

const axis = (start, end) => ({
  start: (box) => box[start],
  end: (box) => box[end],
  middle: (box) => (box[start] + box[end]) / 2,
});
const SIDEWAYS = axis("left", "right");
const UPRIGHT = axis("top", "bottom");
const gap = ({ start, end }, from, to) => Math.max(start(to) - end(from), start(from) - end(to), 0);

// Return the controls that people see in what is open, or in the page.
function controls(selector) {
  return [...place().querySelectorAll(selector)].filter((each) => {
    const { width, height } = each.getBoundingClientRect();
    return !each.disabled && each.tabIndex >= 0 && Math.min(width, height) > 4 && each.checkVisibility(SEEN);
  });
}

// Begin where the user left this page, or at its first control.
function begin() {
  const pressed = tab.read(STORAGE_KEY);
  const link = controls("a[href]").find(({ pathname }) => pathname === pressed);
  if (document.activeElement === document.body && !film()) (link || first())?.focus({ focusVisible: true });
}

on(document, "click", ({ target }) => {
  const link = target.closest("a[href]")?.pathname;
  if (link) tab.write(STORAGE_KEY, link);
});

// Before that, browsers take the focus away when they look for the address's fragment.
on(window, "load", () => requestAnimationFrame(() => setTimeout(begin)));
