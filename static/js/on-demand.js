// Load a module with the first act that needs it. Where it can't be had, since Ferry is away or was
// upgraded under the open page, say so and offer to load the page anew.
import { offerReload } from "./toasts.js";

export async function onDemand(importing, reload) {
  try {
    return await importing();
  } catch (error) {
    console.warn(error);
    offerReload(reload);
    return null;
  }
}
