// Sign in as soon as another device has approved this one.
import { live } from "../clock.js";

const EVERY_MS = 2000;
const waiting = document.getElementById("waiting");

async function ask() {
  const answer = await fetch(waiting.dataset.state, { signal: AbortSignal.timeout(20_000) });
  if (answer.status === 200) waiting.submit();
  else if (answer.status === 404) location.assign(waiting.dataset.again);
  else if (answer.status === 204) return EVERY_MS;
  else throw new Error(`Ferry responded with ${answer.status}`);
  return null;
}

if (waiting) live(ask, EVERY_MS);
