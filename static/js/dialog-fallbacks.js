// Fallbacks for browsers without invoker commands or `closedby`, such as WebKitGTK.
import { on, onClick } from "./events.js";

// These are the two invoker commands that Ferry uses.
if (!("commandForElement" in HTMLButtonElement.prototype)) {
  onClick("button[commandfor]", (button) => {
    const dialog = document.getElementById(button.getAttribute("commandfor"));
    if (!dialog || button.disabled) return;
    const command = button.getAttribute("command");
    if (command === "show-modal" && !dialog.open) dialog.showModal();
    if (command === "close") dialog.close();
  });
}

// The fallback for `closedby=any`: a press and release beside such a dialog closes it.
if (!("closedBy" in HTMLDialogElement.prototype)) {
  let pressedDialog = null;
  on(document, "pointerdown", (event) => (pressedDialog = dialogBeside(event)));
  on(document, "click", (event) => {
    if (pressedDialog && dialogBeside(event) === pressedDialog) pressedDialog.close();
  });
}

// The target of a press on the backdrop is the dialog itself.
function dialogBeside({ target, clientX, clientY }) {
  if (!target.matches("dialog[closedby=any]")) return null;
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  return isInside ? null : target;
}
