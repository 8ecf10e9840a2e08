// The bar below every page while music plays, unless the page itself shows the track. It begins with the
// music of the previous page.
import { setText, showPlaying } from "../elements.js";
import { fill as fillWords, words } from "../words.js";
import * as music from "./music.js";

const LONGEST_NAME = 40;
const template = document.getElementById("music-bar");
const ACTIONS = { previous: () => music.step(-1), play: music.toggle, next: () => music.step(1), close: music.stop };

let bar = null;
let missingCover = null;

function showBar() {
  const track = music.current();
  const isShownByPage = track && document.getElementById("viewer")?.dataset.url === track.url;
  document.body.classList.toggle("with-music", Boolean(track) && !isShownByPage);
  if (!track || isShownByPage) return hideBar();
  bar ??= make();
  if (!bar.isConnected) document.body.append(bar);
  fill(track);
}

function hideBar() {
  const hadFocus = bar?.contains(document.activeElement);
  bar?.remove();
  if (hadFocus) document.getElementById("main").focus({ preventScroll: true });
}

function make() {
  const fresh = template.content.firstElementChild.cloneNode(true);
  fresh.querySelector("img").addEventListener("error", ({ target }) => {
    missingCover = target.getAttribute("src");
    showBar();
  });
  fresh.addEventListener("click", ({ target }) => ACTIONS[target.closest("[data-do]")?.dataset.do]?.());
  return fresh;
}

function fill(track) {
  const find = (selector) => bar.querySelector(selector);
  const { title, artist, album } = music.wordsOf(track);
  setText(find("b"), title);
  setText(find("small"), [artist, album].filter(Boolean).join(" · "));
  find("a").href = track.url;
  const cover = find("img");
  const hasCover = Boolean(track.cover) && track.cover !== missingCover;
  cover.hidden = !hasCover;
  if (hasCover && cover.getAttribute("src") !== track.cover) cover.src = track.cover;
  find(".cover:not(img)").hidden = hasCover;
  find("progress").value = music.sound.duration ? music.sound.currentTime / music.sound.duration : 0;
  find("[data-do=next]").setAttribute("aria-disabled", !music.canStep(1));
  setText(find("[role=status]"), unplayableWords());
  showPlaying(find("[data-do=play]"), music.isPlaying());
}

// A track's own page already shows that it can't be played.
export function unplayableWords(own) {
  const track = music.unplayable();
  if (!track || track.url === own) return "";
  const { title } = music.wordsOf(track);
  const name = title.length > LONGEST_NAME ? `${title.slice(0, LONGEST_NAME)}…` : title;
  return fillWords(words.shell.unplayable, { name: `\u2068${name}\u2069` });
}

music.changes.addEventListener("change", showBar);
// The page may have started or stopped showing the track.
new MutationObserver(showBar).observe(document.body, { childList: true });
music.resume();
showBar();
