// After the end of a film, a card counts down, and then the next episode opens.
import { fill, words } from "../words.js";
import { recall, remember } from "./choices.js";

const COUNTDOWN_SECONDS = 8;

export function offerNext(root, video, cards, on) {
  const button = root.querySelector("[data-do=run-on]");
  if (!button) return;
  const isAutoplayOn = () => button.getAttribute("aria-checked") === "true";
  let card = null;

  button.setAttribute("aria-checked", recall("runs-on", true));
  on(button, "click", toggle);
  on(video, "ended", () => isAutoplayOn() && countDown());
  on(root, "keydown", cancel);

  function toggle() {
    button.setAttribute("aria-checked", String(!isAutoplayOn()));
    remember("runs-on", isAutoplayOn());
    if (card?.isConnected) cards.clear();
  }

  // The countdown ends as soon as its card is removed, for whatever reason.
  function countDown() {
    card = cards.show("upcoming");
    let left = COUNTDOWN_SECONDS;
    showCount(left);
    const timer = setInterval(() => {
      if (!card.isConnected) return clearInterval(timer);
      left -= 1;
      showCount(left);
      if (left > 0) return;
      clearInterval(timer);
      card.querySelector("a").click();
    }, 1000);
  }

  function showCount(count) {
    card.querySelector("#upcoming-text").textContent = fill(words.player.next, { count });
  }

  function cancel(event) {
    if (event.key !== "Escape" || !card?.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
    cards.clear();
  }
}
