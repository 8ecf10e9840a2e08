// Save the queue in the tab's storage, so that music continues from page to page, and choices in the
// browser's. The queue may be long but rarely changes; the place in it is saved every two seconds.
import { browser, tab } from "../storage.js";

const QUEUE = "ferry-music";
const PLACE = "ferry-music-place";
const CHOICES = "ferry-music-choices";

export const loadQueue = () => tab.readJson(QUEUE);
export const loadPlace = () => tab.readJson(PLACE);
export const savePlace = (place) => tab.write(PLACE, place);
export const loadChoices = () => browser.readJson(CHOICES) ?? {};
export const saveChoices = (choices) => browser.write(CHOICES, choices);

// If the queue doesn't fit, clear the previous one, which the new place doesn't belong to.
export function saveQueue(queue) {
  if (!tab.write(QUEUE, queue)) clear();
}

export function clear() {
  for (const key of [QUEUE, PLACE]) tab.remove(key);
}
