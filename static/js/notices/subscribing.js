// Subscribe this browser to its push service, and send the form with what the service answered.
import { onCapture } from "../events.js";
import { showToast } from "../toasts.js";
import { words } from "../words.js";

const isFull = (form) => form.elements.url.value !== "";

// htmx listens on the form itself, so this has to come first.
onCapture("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-push-key]") || isFull(form)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  fillIn(form).catch(() => showToast(words.transfers.denied));
});

async function fillIn(form) {
  if ((await window.Notification?.requestPermission()) !== "granted") throw new Error("denied");
  const registration = await navigator.serviceWorker.ready;
  const subscription = await subscribe(registration.pushManager, form.dataset.pushKey);
  const { endpoint, keys } = subscription.toJSON();
  const { url, key, auth } = form.elements;
  [url.value, key.value, auth.value] = [endpoint, keys.p256dh, keys.auth];
  form.requestSubmit();
}

// A subscription is bound to Ferry's key, which changes with SECRET_KEY.
async function subscribe(manager, applicationServerKey) {
  const options = { userVisibleOnly: true, applicationServerKey };
  try {
    return await manager.subscribe(options);
  } catch (error) {
    if (error.name !== "InvalidStateError") throw error;
    await (await manager.getSubscription())?.unsubscribe();
    return manager.subscribe(options);
  }
}
