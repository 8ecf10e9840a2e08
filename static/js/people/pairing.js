// Show beside the code when the other device has connected.
import "../copying.js";
import { poll } from "../clock.js";

const EVERY_MS = 2000;

function watch() {
  const paired = document.querySelector("#paired:empty");
  if (!paired || paired.watched) return;
  paired.watched = true;
  // Any other response is final: the other device connected, this one was signed out, or another page
  // created a newer code.
  poll(
    () => paired,
    ({ status }) => (status === 204 ? EVERY_MS : null),
  );
}

document.addEventListener("htmx:load", watch);
watch();
