// A preview that is a page, not an overlay.
import "./acts.js";
import { mount, viewer } from "./viewer.js";

mount(viewer());

// The history may hold a listing that this document showed before the user reloaded it.
window.addEventListener("popstate", () => location.reload());
