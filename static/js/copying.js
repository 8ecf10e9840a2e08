import { tell } from "./toasts.js";
import { words } from "./words.js";

// Only a secure page may use the clipboard; over http in the LAN the reader copies by hand.
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
