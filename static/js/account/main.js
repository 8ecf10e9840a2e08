import "../copying.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";

// This page's policy blocks bookmarklets, so show how to use one instead of running it.
document.addEventListener("click", (event) => {
  const bookmarklet = event.target.closest("[data-bookmarklet]");
  if (!bookmarklet) return;
  event.preventDefault();
  tell(words.account.drag);
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-handler]");
  if (!button) return;
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
