// Zoom by wheel, pinch, double tap, and keys; pan by scrolling and dragging; swipe to the next picture.
// Sizes are attributes of the picture, since the page's policy forbids inline styles.
import { isForUs } from "../shortcuts.js";
import * as slideshow from "./slideshow.js";
import { step } from "./viewer.js";

const MAX_ZOOM = 8;
const TAP_ZOOM = 2.5;
const KEY_ZOOM = 1.4;
const TAP_MS = 300;
const TAP_PX = 30;
const SWIPE_PX = 50;

let frame, image, level, fit, touch, tap;

export function mount(viewer, on, { isSlideshow = false } = {}) {
  frame = viewer.querySelector(".picture-frame");
  image = frame.querySelector("img");
  level = 1;
  touch = tap = null;
  watch(viewer, on);
  on(frame, "wheel", wheel, { passive: false });
  on(frame, "dblclick", ({ clientX, clientY }) => toggle(clientX, clientY));
  on(frame, "pointermove", drag);
  on(frame, "touchstart", start, { passive: true });
  on(frame, "touchmove", move, { passive: false });
  on(frame, "touchend", end, { passive: false });
  on(document, "keydown", press);
  on(window, "resize", () => zoom(1));
  slideshow.mount(viewer, image, on, isSlideshow);
  viewer.querySelector(".strip [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
}

function watch(viewer, on) {
  const small = image.src;
  on(image, "error", () => {
    const { full } = image.dataset;
    const fallback = viewer.querySelector("template.broken").content.firstElementChild;
    if (full && image.src === small && !image.src.endsWith(full)) image.src = full;
    else frame.replaceChildren(...fallback.cloneNode(true).children);
    frame.classList.toggle("fallback", !image.isConnected);
  });
  on(image, "load", () => fetchNeighbors(viewer), { once: true });
  for (const thumb of viewer.querySelectorAll(".strip img")) on(thumb, "error", () => thumb.remove());
  if (image.complete && image.currentSrc) image.dispatchEvent(new Event(image.naturalWidth ? "load" : "error"));
}

function fetchNeighbors(viewer) {
  for (const link of viewer.querySelectorAll("[data-picture]")) new Image().src = link.dataset.picture;
}

// Zoom

function zoom(newLevel, x = innerWidth / 2, y = innerHeight / 2) {
  if (!image.naturalWidth || !image.isConnected) return;
  const before = measure();
  level = Math.min(Math.max(newLevel, 1), MAX_ZOOM);
  if (level < 1.01) {
    level = 1;
    frame.classList.remove("zoomed");
    image.removeAttribute("width");
    image.removeAttribute("height");
    return;
  }
  image.width = Math.round(fit.width * level);
  image.height = Math.round(fit.height * level);
  frame.classList.add("zoomed");
  const after = image.getBoundingClientRect();
  const across = (x - before.left) / before.width;
  const down = (y - before.top) / before.height;
  frame.scrollBy(after.left + across * after.width - x, after.top + down * after.height - y);
  showFull();
}

// Measure where the picture is. While it fits the frame, its element may be larger.
function measure() {
  const box = image.getBoundingClientRect();
  if (level > 1) return box;
  const ratio = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
  fit = { width: image.naturalWidth * ratio, height: image.naturalHeight * ratio };
  return { left: box.left + (box.width - fit.width) / 2, top: box.top + (box.height - fit.height) / 2, ...fit };
}

function showFull() {
  const { full } = image.dataset;
  if (!full || image.src.endsWith(full)) return;
  delete image.dataset.full;
  const [shown, whole] = [image, Object.assign(new Image(), { src: full })];
  const show = () => (shown.src = full);
  whole.decode().then(show, () => {});
}

function toggle(x, y) {
  zoom(level > 1 ? 1 : TAP_ZOOM, x, y);
}

function wheel(event) {
  event.preventDefault();
  zoom(level * Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), event.clientX, event.clientY);
}

function press(event) {
  if (!isForUs(event, { mayRepeat: true, inside: "#overlay" })) return;
  if (event.key === "+" || event.key === "=") zoom(level * KEY_ZOOM);
  else if (event.key === "-") zoom(level / KEY_ZOOM);
  else if (event.key === "0") zoom(1);
}

function drag(event) {
  if (event.pointerType !== "mouse" || !(event.buttons & 1) || level === 1) return;
  frame.setPointerCapture(event.pointerId);
  frame.scrollBy(-event.movementX, -event.movementY);
}

// Touch

function start({ touches }) {
  const [one, two] = touches;
  touch = { x: one.clientX, y: one.clientY, apart: two ? apart(one, two) : 0, level };
}

function move(event) {
  const [one, two] = event.touches;
  if (!two || !touch?.apart) return;
  event.preventDefault();
  zoom((touch.level * apart(one, two)) / touch.apart, (one.clientX + two.clientX) / 2, (one.clientY + two.clientY) / 2);
}

const apart = (one, two) => Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);

function end(event) {
  const first = touch;
  if (event.touches.length || !first) return;
  touch = null;
  if (first.apart) return;
  const { clientX: x, clientY: y } = event.changedTouches[0];
  const [across, down] = [x - first.x, y - first.y];
  if (Math.hypot(across, down) < TAP_PX) return handleTap(event, x, y);
  if (level === 1 && Math.abs(across) > SWIPE_PX && Math.abs(across) > 2 * Math.abs(down))
    step(across < 0 ? "next" : "previous");
}

function handleTap(event, x, y) {
  const isSecond = tap && event.timeStamp - tap.at < TAP_MS && Math.hypot(tap.x - x, tap.y - y) < TAP_PX;
  tap = isSecond ? null : { x, y, at: event.timeStamp };
  if (!isSecond) return;
  event.preventDefault();
  toggle(x, y);
}
