// What comes next: after the end of a film a card counts down, then the next episode opens.
import { fill, words } from "../words.js";
import { recall, remember } from "./memory.js";

const COUNTDOWN_SECONDS = 8;

export function offerNext(root, video, cards, signal) {
  const button = root.querySelector("[data-do=run-on]");
  if (!button) return;
  const runsOn = () => button.getAttribute("aria-checked") === "true";
  let card = null;

  button.setAttribute("aria-checked", recall("runs-on", true));
  button.addEventListener("click", turn, { signal });
  video.addEventListener("ended", () => runsOn() && countDown(), { signal });
  root.addEventListener("keydown", stay, { signal });

  function turn() {
    button.setAttribute("aria-checked", String(!runsOn()));
    remember("runs-on", runsOn());
    if (card?.isConnected) cards.clear();
  }

  // The countdown ends with its card, whatever takes the card away.
  function countDown() {
    card = cards.show("upcoming");
    let left = COUNTDOWN_SECONDS;
    say(left);
    const timer = setInterval(() => {
      if (!card.isConnected) return clearInterval(timer);
      left -= 1;
      say(left);
      if (left > 0) return;
      clearInterval(timer);
      card.querySelector("a").click();
    }, 1000);
  }

  function say(count) {
    card.querySelector("#upcoming-text").textContent = fill(words.player.next, { count });
  }

  function stay(event) {
    if (event.key !== "Escape" || !card?.isConnected) return;
    event.preventDefault();
    event.stopPropagation();
    cards.clear();
  }
}
