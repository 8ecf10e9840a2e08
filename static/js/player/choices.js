// The choices in the player's menus, and what the user chose for earlier films.
import { makeElement } from "../elements.js";
import { browser } from "../storage.js";

const PREFIX = "ferry-player-";
const focusIndexes = new WeakMap(); // by list, while the list has no choices for a moment

export function makeChoice(data, properties) {
  const button = makeElement("button", { type: "button", ...properties });
  Object.assign(button.dataset, data);
  return makeElement("li", {}, button);
}

// Choices may change while their menu is open, and vanish for a moment while hls.js restarts.
// Keep the focus where it was, unless the user has moved it.
export function refill(list, choices) {
  const at = [...list.children].findIndex((each) => each.contains(document.activeElement));
  if (at >= 0) focusIndexes.set(list, at);
  else if (document.activeElement !== document.body) focusIndexes.delete(list);
  list.replaceChildren(...choices);
  if (!choices.length || !focusIndexes.has(list)) return;
  [...list.querySelectorAll("button")].at(Math.min(focusIndexes.get(list), choices.length - 1))?.focus();
  focusIndexes.delete(list);
}

// Mark the choices of a list that are current.
export function markCurrent(list, isCurrent) {
  for (const button of list.querySelectorAll("button")) button.ariaCurrent = isCurrent(button.dataset) ? "true" : null;
}

// Return the choice that is most like the preferred one: the same, or another in its language.
export function findLike(choices, { name, lang }) {
  const same = choices.find((each) => each.name === name && each.lang === lang);
  return same ?? choices.find((each) => each.lang && each.lang === lang);
}

export const recall = (name, fallback) => browser.readJson(PREFIX + name) ?? fallback;
export const remember = (name, value) => browser.write(PREFIX + name, JSON.stringify(value));
