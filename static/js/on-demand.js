// Load a module when the user first needs it. If that fails, because Ferry is unreachable or was
// upgraded while the page was open, offer to reload the page.
import { offerReload } from "./toasts.js";

export async function onDemand(load, reload) {
  try {
    return await load();
  } catch (error) {
    console.warn(error);
    offerReload(reload);
    return null;
  }
}
