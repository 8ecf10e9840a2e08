// What dialogs need in browsers that lack invoker commands or `closedby`, such as WebKitGTK.
// Browsers without invoker commands get the two that Ferry uses.
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

// Browsers without `closedby` get its "any": a press and release beside such a dialog closes it.
if (!("closedBy" in HTMLDialogElement.prototype)) {
  let pressed = null;
  document.addEventListener("pointerdown", (event) => {
    pressed = dialogBeside(event);
  });
  document.addEventListener("click", (event) => {
    if (pressed && dialogBeside(event) === pressed) pressed.close();
  });
}

// A press on the backdrop has the dialog as its target.
function dialogBeside({ target, clientX, clientY }) {
  if (!target.matches("dialog[closedby=any]")) return null;
  const { left, right, top, bottom } = target.getBoundingClientRect();
  const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  return isInside ? null : target;
}
