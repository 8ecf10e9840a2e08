import "../copying.js";
import { on, onClick } from "../events.js";
import { isOn, turn } from "../shortcuts.js";
import { showToast, tell } from "../toasts.js";
import { words } from "../words.js";

const keysSwitch = document.querySelector("[data-keys-switch]");
if (keysSwitch) {
  keysSwitch.checked = isOn();
  on(keysSwitch, "change", () => turn(keysSwitch.checked));
}

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
