import { tell } from "./toasts.js";
import { words } from "./words.js";

// Only secure pages may use the clipboard. Over plain HTTP on a LAN, the user copies by hand.
export async function copy(address) {
  try {
    await navigator.clipboard.writeText(address);
    tell(words.shell.copied);
  } catch {
    const field = document.getElementById("address-field");
    field.value = address;
    document.getElementById("address").showModal();
    field.select();
  }
}
