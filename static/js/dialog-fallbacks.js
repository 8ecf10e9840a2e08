// Fallbacks for browsers without invoker commands or `closedby`, such as WebKitGTK.
// These are the two invoker commands that Ferry uses.
if (!("commandForElement" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("button[commandfor]");
    const dialog = button && document.getElementById(button.getAttribute("commandfor"));
    if (!dialog || button.disabled) return;
    const command = button.getAttribute("command");
    if (command === "show-modal" && !dialog.open) dialog.showModal();
    if (command === "close") dialog.close();
  });
}

// The fallback for `closedby=any`: a press and release beside such a dialog closes it.
if (!("closedBy" in HTMLDialogElement.prototype)) {
  let pressedDialog = null;
  document.addEventListener("pointerdown", (event) => {
    pressedDialog = dialogBeside(event);
  });
  document.addEventListener("click", (event) => {
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
