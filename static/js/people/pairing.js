// Says beside the code when the other device has come.
import { live } from "../clock.js";

const EVERY_MS = 2000;

function watch() {
  const paired = document.querySelector("#paired:empty");
  if (!paired || paired.watched) return;
  paired.watched = true;
  live(() => ask(paired), EVERY_MS);
}

async function ask(paired) {
  if (!paired.isConnected) return null;
  const answer = await fetch(paired.dataset.state, { headers: { "HX-Request": "true" }, signal: AbortSignal.timeout(20_000) });
  if (answer.status === 204) return EVERY_MS;
  // Else somebody signed this device out meanwhile, or another page made a newer code.
  if (answer.ok && !answer.redirected) paired.append(document.createRange().createContextualFragment(await answer.text()));
  return null;
}

document.addEventListener("htmx:load", watch);
watch();
