// Update the number of running transfers in the navigation. The Transfers page does so with its own poll.
import { poll } from "./clock.js";

const EVERY_MS = 4000;
const SIGNED_OUT_MS = 60_000;

if (!document.getElementById("transfers")) {
  poll(
    () => document.getElementById("running"),
    (xhr) => (xhr.getResponseHeader("HX-Redirect") ? SIGNED_OUT_MS : EVERY_MS),
  );
}
