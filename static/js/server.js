// Requests of scripts to the server.

const pageHeaders = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");
export const headers = () => ({ ...pageHeaders(), "X-Requested-With": "ferry" });

// Take the new CSRF token from a refusal: signing in, in any tab, makes the old one invalid. Return
// whether there was one.
export function renewToken(answer) {
  if (!answer?.token) return false;
  document.body.setAttribute("hx-headers", JSON.stringify({ ...pageHeaders(), "X-CSRFToken": answer.token }));
  return true;
}

// Send a request with this page's token, and once more if there is a new one.
export async function request(url, options, isRetry = false) {
  const response = await fetch(url, { ...options, headers: { ...headers(), ...options.headers } });
  if (response.status !== 403 || isRetry) return response;
  const answer = response.clone().json();
  return renewToken(await answer.catch(() => null)) ? request(url, options, true) : response;
}

// Return what the server knows, or null if it can't be had.
export async function fetchJson(url, signal) {
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
