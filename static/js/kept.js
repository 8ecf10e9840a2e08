import { tab } from "./storage.js";

// What the tab kept for its next page is loaded where there is something, and what keeps what is
// typed with the first letter. The number of transfers is right when the page comes.
const COUNT_MS = 4000;
const drafts = () => import("./unsent-forms.js");
const kept = tab.keys();

if (kept.includes("ferry-music")) import("./music/across-pages.js");
if (kept.some((key) => key.startsWith("ferry-draft "))) drafts();
document.addEventListener("input", keepFirst, { once: true });
setTimeout(() => import("./running.js"), COUNT_MS);

async function keepFirst({ target: { form } }) {
  const { keep } = await drafts();
  keep(form);
}
