// Who waits is told: a toast, which is read out, and where that was allowed a notification.
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { post } from "./acts.js";

const FEW = 3;
const told = new Set();
const button = () => document.getElementById("notify");

export function notice() {
  const arrived = [...document.querySelectorAll("#arrived > li")].filter(({ dataset }) => !told.has(dataset.doneKey));
  for (const { dataset } of arrived) told.add(dataset.doneKey);
  const count = arrived.length;
  say(count > FEW ? [fill(words.transfers.arrived, { count })] : arrived.map(({ textContent }) => textContent), tell);
}

// Called before a row changes, while the page still shows what it was.
export function noticeFailure(shown, fresh) {
  if (fresh.dataset.state !== "failed" || shown.dataset.state === "failed") return;
  say([fill(words.transfers.failed, { name: fresh.querySelector(".transfer-name").textContent })], showToast);
}

function say(sentences, show) {
  for (const sentence of sentences) {
    show(sentence);
    notify(sentence);
  }
}

function notify(sentence) {
  if (document.hasFocus() || !isPossible() || Notification.permission !== "granted") return;
  try {
    new Notification("Ferry", { body: sentence, tag: sentence });
  } catch {
    // Phones let only a service worker do this; the toast has said it.
  }
}

// Over http in the LAN there are none.
const isPossible = () => "Notification" in window && window.isSecureContext;

button().hidden = !isPossible() || Notification.permission !== "default";

button().addEventListener("click", async () => {
  const answer = await Notification.requestPermission();
  button().hidden = answer !== "default";
  if (answer === "granted") tell(words.transfers.granted);
  if (answer === "denied") showToast(words.transfers.denied);
});

document.addEventListener("transfers-changed", ({ detail }) => {
  const { said, undo } = detail ?? {};
  if (undo) tell(said, () => post(document.getElementById("title"), undo), words.transfers.undo);
  else if (said) tell(said);
});
