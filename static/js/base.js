// The modules that all pages share, and two that most lists need: in files of their own, these would weigh
// twice as much. None of them uses import(), so that the hash in this file's name can depend on its content.
import "./errors.js";
import { on } from "./events.js";
import "./menus.js";
import "./on-demand.js";
import "./selection/rows.js";
import "./server.js";
import "./shortcuts.js";
import "./toasts.js";
import "./worker.js";

// A page from the back/forward cache may show what the current user must not see, such as after a sign-out.
on(window, "pageshow", ({ persisted }) => persisted && location.reload());

// A page may have the switch of themes twice, in the rail and in its content, so keep them in sync.
on(document, "change", ({ target }) => {
  if (!target.matches(".scheme")) return;
  for (const twin of document.querySelectorAll(".scheme")) twin.checked = twin.value === target.value;
});
