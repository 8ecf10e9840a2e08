import { tab } from "./storage.js";

// Load a script only when it has work: drafts and music if the tab has saved any, and drafts once the
// user types. The number of transfers is up to date when the page loads, so its poll starts later.
const COUNT_MS = 4000;
const loadDrafts = () => import("./unsent-forms.js");

if (tab.read("ferry-music")) import("./music/across-pages.js");
if (tab.keys("ferry-draft ").length) loadDrafts();
document.addEventListener("input", keepFirst, { once: true });
setTimeout(() => import("./running.js"), COUNT_MS);

async function keepFirst({ target: { form } }) {
  const { keep } = await loadDrafts();
  keep(form);
}
