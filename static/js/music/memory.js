// What is playing goes with the tab, from page to page; choices stay with the browser. The queue may
// be long and rarely changes; the place in it is stored every other second.
import { browser, tab } from "../storage.js";

const QUEUE = "ferry-music";
const PLACE = "ferry-music-place";
const CHOICES = "ferry-music-choices";

let isSignedOut = false;

export const loadQueue = () => tab.readJson(QUEUE);
export const loadPlace = () => tab.readJson(PLACE);
export const savePlace = (place) => isSignedOut || tab.write(PLACE, place);
export const loadChoices = () => browser.readJson(CHOICES) ?? {};
export const saveChoices = (choices) => browser.write(CHOICES, choices);

// A queue that doesn't fit must not leave the one before for the new place.
export function saveQueue(queue) {
  if (!isSignedOut && !tab.write(QUEUE, queue)) clear();
}

// A page that closes saves once more, also after its reader signed out.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("form[data-signout]")) return;
  isSignedOut = true;
  clear();
});

export function clear() {
  for (const key of [QUEUE, PLACE]) tab.remove(key);
}
