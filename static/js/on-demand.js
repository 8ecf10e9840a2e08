// Load a module when the user first needs it. If that fails, because Ferry is unreachable or was
// upgraded while the page was open, offer to reload the page.
import { showToast } from "./toasts.js";
import { words } from "./words.js";

export async function onDemand(load, reload = () => location.reload()) {
  try {
    return await load();
  } catch (error) {
    console.warn(error);
    showToast(words.shell.incomplete, reload, words.shell.reload);
    return null;
  }
}
