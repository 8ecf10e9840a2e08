// Says beside the code when the other device has come.
import { poll } from "../clock.js";

const EVERY_MS = 2000;

function watch() {
  const paired = document.querySelector("#paired:empty");
  if (!paired || paired.watched) return;
  paired.watched = true;
  // Any other answer is the last: the other device came, somebody signed this one out, or another
  // page made a newer code.
  poll(
    () => paired,
    ({ status }) => (status === 204 ? EVERY_MS : null),
  );
}

document.addEventListener("htmx:load", watch);
watch();
