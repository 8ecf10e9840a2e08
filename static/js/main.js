import "./base.js";
import "./dialogs.js";
import { on } from "./events.js";
import { tab } from "./storage.js";

// Load a script only when it has work: drafts and music if the tab has saved any, and drafts once the
// user types. What the page polls is up to date when it loads, so the clock starts later.
const CLOCK_MS = 4000;
const loadDrafts = () => import("./unsent-forms.js");

if (tab.read("ferry-music") && document.getElementById("music-bar")) import("./music/bar.js");
if (tab.keys("ferry-draft ").length) loadDrafts();
on(document, "input", ({ target: { form } }) => loadDrafts().then(({ keep }) => keep(form)), { once: true });
setTimeout(() => import("./clock.js"), CLOCK_MS);
