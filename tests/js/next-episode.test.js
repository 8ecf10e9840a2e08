import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { listenUntil } from "../../static/js/events.js";

const WORDS = { player: { next: { 1: "Starts in {count} second", 2: "Starts in {count} seconds" } } };
const stored = {};
let ticks = [];

globalThis.localStorage = {
  getItem: (key) => stored[key] ?? null,
  setItem: (key, value) => (stored[key] = value),
};
globalThis.document = {
  documentElement: { lang: "en" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
};
mock.method(globalThis, "setInterval", (act, ms) => ticks.push({ act, ms }));
mock.method(globalThis, "clearInterval", (id) => delete ticks[id - 1]);

const { offerNext } = await import("../../static/js/player/next-episode.js");

let button, card, cards, controller, root, text, video;

function openFilm({ isEpisode = true } = {}) {
  controller?.abort();
  controller = new AbortController();
  const attributes = {};
  button = Object.assign(new EventTarget(), {
    getAttribute: (name) => attributes[name],
    setAttribute: (name, value) => (attributes[name] = String(value)),
  });
  root = Object.assign(new EventTarget(), { querySelector: () => (isEpisode ? button : null) });
  video = new EventTarget();
  text = {};
  card = { isConnected: false, click: mock.fn(), querySelector: (name) => (name === "a" ? card : text) };
  cards = {
    show: mock.fn(() => {
      card.isConnected = true;
      return card;
    }),
    clear: mock.fn(() => (card.isConnected = false)),
  };
  offerNext(root, video, cards, listenUntil(controller.signal));
}

const end = () => video.dispatchEvent(new Event("ended"));
const toggle = () => button.dispatchEvent(new Event("click"));
const pass = (seconds) => {
  for (let second = 0; second < seconds; second += 1) for (const tick of ticks) tick?.act();
};

beforeEach(() => {
  ticks = [];
  delete stored["ferry-player-runs-on"];
  openFilm();
});

test("after the end, a card counts down, and then the next episode opens", () => {
  end();
  assert.deepEqual(cards.show.mock.calls[0].arguments, ["upcoming"]);
  assert.equal(text.textContent, "Starts in 8 seconds");
  assert.equal(ticks[0].ms, 1000);
  pass(7);
  assert.equal(text.textContent, "Starts in 1 second");
  assert.equal(card.click.mock.callCount(), 0);
  pass(1);
  assert.equal(card.click.mock.callCount(), 1);
  pass(5);
  assert.equal(card.click.mock.callCount(), 1);
});

test("the countdown ends when its card goes", () => {
  end();
  pass(3);
  cards.clear();
  pass(20);
  assert.equal(card.click.mock.callCount(), 0);
});

test("Esc cancels the countdown, and does nothing else then", () => {
  end();
  const press = (key) => {
    const event = Object.assign(new Event("keydown", { cancelable: true }), { key });
    root.dispatchEvent(event);
    return event.defaultPrevented;
  };
  assert.equal(press("k"), false);
  assert.equal(card.isConnected, true);
  assert.equal(press("Escape"), true);
  assert.equal(card.isConnected, false);
  assert.equal(press("Escape"), false);
});

test("episodes run on until that is switched off, also in the next film", () => {
  assert.equal(button.getAttribute("aria-checked"), "true");
  end();
  toggle();
  assert.equal(card.isConnected, false);
  assert.equal(button.getAttribute("aria-checked"), "false");
  openFilm();
  assert.equal(button.getAttribute("aria-checked"), "false");
  end();
  assert.equal(cards.show.mock.callCount(), 0);
  toggle();
  assert.equal(button.getAttribute("aria-checked"), "true");
  end();
  assert.equal(card.isConnected, true);
});

test("a film that isn't an episode doesn't run on", () => {
  openFilm({ isEpisode: false });
  end();
  assert.equal(cards.show.mock.callCount(), 0);
});
