import { showToast, tell } from "../toasts.js";

// The policy of this page lets no bookmark run here, and nobody needs one here.
document.addEventListener("click", (event) => {
  const bookmarklet = event.target.closest("[data-bookmarklet]");
  if (!bookmarklet) return;
  event.preventDefault();
  tell(bookmarklet.dataset.said);
});

// Only a secure page may use the clipboard; over http in the LAN the reader copies by hand.
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-copy]");
  if (!button) return;
  const field = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(field.value);
    tell(button.dataset.said);
  } catch {
    field.focus();
    field.select();
    tell(button.dataset.selected);
  }
});

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-handler]");
  if (!button) return;
  try {
    navigator.registerProtocolHandler("magnet", button.dataset.handler);
    tell(button.dataset.said);
  } catch {
    showToast(button.dataset.refused);
  }
});

// The server first asks for the password, on a page of its own: the browser sends the form there.
document.addEventListener("ferry:send-as-page", ({ target }) => {
  HTMLFormElement.prototype.submit.call(target);
});
