// Announce finished and failed transfers with toasts, and with notifications if the user allowed them.
import { onClick } from "../events.js";
import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { post } from "./acts.js";

const FEW = 3;
const seenKeys = new Set();
const list = document.getElementById("transfers");

export function notice() {
  const fresh = [...document.querySelectorAll("#arrived > li")].filter(({ dataset }) => !seenKeys.has(dataset.doneKey));
  for (const { dataset } of fresh) seenKeys.add(dataset.doneKey);
  const count = fresh.length;
  const sentences = fresh.map(({ textContent }) => textContent);
  say(count > FEW ? [fill(words.transfers.arrived, { count })] : sentences, tell);
}

// Call this before the row changes, while the page still shows the old state.
export function noticeFailure(shown, fresh) {
  if (fresh.dataset.state !== "failed" || shown.dataset.state === "failed") return;
  say([fill(words.transfers.failed, { name: fresh.querySelector(".transfer-name").textContent })], showToast);
}

function say(sentences, show) {
  for (const sentence of sentences) {
    show(sentence);
    notify(sentence).catch(() => {}); // The toast is enough.
  }
}

// On phones, only a service worker may show notifications. Ferry itself tells a device that has asked for it.
async function notify(sentence) {
  if (isTold || document.hasFocus() || !isPossible() || Notification.permission !== "granted") return;
  const registration = await navigator.serviceWorker?.getRegistration();
  const options = { body: sentence, tag: sentence };
  if (registration?.active) await registration.showNotification("Ferry", options);
  else new Notification("Ferry", options);
}

// Over HTTP on a LAN, browsers don't offer notifications.
const isPossible = () => "Notification" in window && window.isSecureContext;

const isTold = "told" in list.dataset;

function showButton() {
  list.classList.toggle("may-notify", !isTold && isPossible() && Notification.permission === "default");
}
showButton();

onClick("#notify", async () => {
  const answer = await Notification.requestPermission();
  showButton();
  if (answer === "granted") tell(words.transfers.granted);
  if (answer === "denied") showToast(words.transfers.denied);
});

document.addEventListener("transfers-changed", ({ detail }) => {
  const { said, undo } = detail ?? {};
  if (undo) tell(said, () => post(document.getElementById("title"), undo), words.transfers.undo);
  else if (said) tell(said);
});
