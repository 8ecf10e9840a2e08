// The chapters of a film, and its filmstrip, fetched once the film has begun to load.

import { markCurrent, refill } from "./controls.js";

export async function show(root, controls, url, signal) {
  const answer = await fetch(url, { headers: { Accept: "application/json" }, signal });
  if (!answer.ok) return;
  const { chapters, filmstrip } = await answer.json();
  if (filmstrip) controls.bubble.frames.useFilmstrip(filmstrip);
  if (chapters.length > 1) showChapters(root, controls, chapters, signal);
}

function showChapters(root, controls, chapters, signal) {
  const { bubble, video } = controls;
  bubble.chapters = chapters;
  root
    .querySelector(".chapter-marks")
    .replaceChildren(
      ...chapters.filter(({ at }) => at > 0 && at < video.duration).map(({ at }) => mark(at / video.duration)),
    );
  const part = root.querySelector("#chapters");
  const menu = part.closest("[popover]");
  part.hidden = false;
  refill(part.querySelector("ul"), chapters.map(item));
  const buttons = [...part.querySelectorAll("button")];
  const markChapter = () => {
    const current = chapters.indexOf(bubble.chapterAt(video.currentTime));
    for (const [number, button] of buttons.entries()) markCurrent(button, number === current);
  };
  menu.addEventListener("beforetoggle", ({ newState }) => newState === "open" && markChapter(), { signal });
  part.addEventListener(
    "click",
    ({ target }) => {
      const number = buttons.indexOf(target.closest("button"));
      if (number < 0) return;
      menu.hidePopover();
      controls.seek(chapters[number].at);
    },
    { signal },
  );
}

function mark(share) {
  const line = document.createElement("span");
  line.style.setProperty("--at", String(share));
  return line;
}

function item({ title }) {
  const line = document.createElement("li");
  line.append(Object.assign(document.createElement("button"), { type: "button", textContent: title }));
  return line;
}
