// The number of running transfers in the navigation. Transfers keeps it right by its own question.
import { live } from "./clock.js";

const EVERY_MS = 4000;
const url = document.querySelector(".nav")?.dataset.running;
const shown = () => document.getElementById("running");

if (url && !document.getElementById("transfers")) live(ask, 0);

async function ask() {
  const query = new URLSearchParams({ seen: shown().querySelector("b").textContent });
  const answer = await fetch(`${url}?${query}`, { headers: { "HX-Request": "true" } });
  // Somebody who was signed out may be typing: their next act leads to the sign-in page.
  if (!answer.ok || answer.headers.has("HX-Redirect")) throw new Error(String(answer.status));
  if (answer.status === 200) {
    const template = document.createElement("template");
    template.innerHTML = await answer.text();
    shown().replaceWith(template.content.firstElementChild);
  }
  return EVERY_MS;
}
