// What is playing goes with the tab, from page to page; choices stay with the browser. Storage may be
// forbidden: then music ends with its page. The queue may be long and rarely changes; the place in it
// is stored every other second.
const QUEUE = "ferry-music";
const PLACE = "ferry-music-place";
const CHOICES = "ferry-music-choices";

let isSignedOut = false;

export const loadQueue = () => read(() => sessionStorage, QUEUE);
export const loadPlace = () => read(() => sessionStorage, PLACE);
export const savePlace = (place) => isSignedOut || write(() => sessionStorage, PLACE, place);
export const loadChoices = () => read(() => localStorage, CHOICES) ?? {};
export const saveChoices = (choices) => write(() => localStorage, CHOICES, choices);

// A queue that doesn't fit must not leave the one before for the new place.
export function saveQueue(queue) {
  if (!isSignedOut && !write(() => sessionStorage, QUEUE, queue)) clear();
}

// A page that closes saves once more, also after its reader signed out.
document.addEventListener("submit", ({ target }) => {
  if (!target.matches("form[data-signout]")) return;
  isSignedOut = true;
  clear();
});

export function clear() {
  try {
    for (const key of [QUEUE, PLACE]) sessionStorage.removeItem(key);
  } catch {
    return;
  }
}

function read(storage, key) {
  try {
    return JSON.parse(storage().getItem(key));
  } catch {
    return null;
  }
}

function write(storage, key, value) {
  try {
    storage().setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
