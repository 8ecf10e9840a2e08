// A preview that is a page.
import "./acts.js";
import { mount, viewer } from "./viewer.js";

mount(viewer());

// The entry before may have been a listing in this very document, before somebody reloaded it.
window.addEventListener("popstate", () => location.reload());
