import "../copying.js";
import { onClick } from "../events.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";

// This page's policy blocks bookmarklets, so show how to use one instead of running it.
onClick("[data-bookmarklet]", (_link, event) => {
  event.preventDefault();
  tell(words.account.drag);
});

onClick("[data-handler]", (button) => {
  try {
    navigator.registerProtocolHandler("magnet", button.dataset.handler);
    tell(words.account.asked);
  } catch {
    showToast(words.account.refused);
  }
});

// The server asks for the password on a separate page first, so the browser has to submit the form.
document.addEventListener("ferry:send-as-page", ({ target }) => {
  HTMLFormElement.prototype.submit.call(target);
});
