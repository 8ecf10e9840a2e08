import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";

// The policy of this page lets no bookmark run here, and nobody needs one here.
document.addEventListener("click", (event) => {
  const bookmarklet = event.target.closest("[data-bookmarklet]");
  if (!bookmarklet) return;
  event.preventDefault();
  tell(words.account.drag);
});

// Only a secure page may use the clipboard; over http in the LAN the reader copies by hand.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(field.value);
    tell(words.account.copied);
  } catch {
    field.focus();
    field.select();
    tell(words.account.selected);
  }
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

// The server first asks for the password, on a page of its own: the browser sends the form there.
document.addEventListener("ferry:send-as-page", ({ target }) => {
  HTMLFormElement.prototype.submit.call(target);
});
