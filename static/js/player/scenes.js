// The chapters of a film, and its filmstrip, fetched once the film has begun to load.
import { fetchJson } from "../server.js";
import { makeChoice, markCurrent, refill } from "./choices.js";

export async function show(root, controls, url, on) {
  const scenes = await fetchJson(url, on.signal);
  if (!scenes || on.signal.aborted) return;
  const { chapters, filmstrip } = scenes;
  if (filmstrip) controls.bubble.frames.useFilmstrip(filmstrip);
  if (chapters.length > 1) showChapters(root, controls, chapters, on);
}

function showChapters(root, controls, chapters, on) {
  const { bubble, video } = controls;
  const inside = chapters.filter(({ at }) => at > 0 && at < video.duration);
  const part = root.querySelector("#chapters");
  const list = part.querySelector("ul");
  const menu = part.closest("[popover]");
  bubble.chapters = chapters;
  root.querySelector(".chapter-marks").replaceChildren(...inside.map(({ at }) => mark(at / video.duration)));
  part.hidden = false;
  const choices = chapters.map(({ title }, chapter) => makeChoice({ chapter }, { textContent: title }));
  refill(list, choices);
  on(menu, "beforetoggle", () => {
    const current = chapters.indexOf(bubble.chapterAt(video.currentTime));
    markCurrent(list, ({ chapter }) => Number(chapter) === current);
  });
  on(part, "click", ({ target }) => {
    const button = target.closest("button");
    if (!button) return;
    menu.hidePopover();
    controls.seek(chapters[button.dataset.chapter].at);
  });
}

function mark(share) {
  const line = document.createElement("span");
  line.style.setProperty("--at", String(share));
  return line;
}
