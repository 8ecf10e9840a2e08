import { makeElement } from "./elements.js";
import { onClick } from "./events.js";
import { tell } from "./toasts.js";
import { words } from "./words.js";

// If the browser refuses, the user copies the address by hand.
export async function copy(address) {
  if (await write(address)) return tell(words.shell.copied);
  const field = document.getElementById("address-field");
  field.value = address;
  document.getElementById("address").showModal();
  field.select();
}

// Only secure pages have a clipboard. Over plain HTTP on a LAN, browsers still copy a selection.
export async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeSelection(text);
  }
}

function writeSelection(text) {
  const focused = document.activeElement;
  const field = makeElement("textarea", { className: "sr", readOnly: true, value: text });
  // Nothing behind a modal dialog can be selected.
  (document.querySelector("dialog:modal") ?? document.body).append(field);
  field.focus({ preventScroll: true });
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  focused?.focus({ preventScroll: true });
  return isCopied;
}

// A button copies the field that it names, or at least selects it.
onClick("[data-copy-field]", async (button) => {
  const field = document.getElementById(button.dataset.copyField);
  if (await write(field.value)) return tell(words.shell.copy);
  field.focus();
  field.select();
  tell(words.shell.selected);
});
