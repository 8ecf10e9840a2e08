// Lines go to the server a few at a time, one request after the other, so that a slow service
// keeps neither the page nor a thread of the server waiting.
import { headers, renewToken, Upload } from "../files/upload.js";
import { words } from "../words.js";

const MOST_LINES = 25;
const MOST_CHARACTERS = 300_000;

export const urls = document.getElementById("sending").dataset;

// Answers what belongs back into the field, and why it did not go on. `answered` is told of each
// answer as it comes; `signal` stops after the request in hand.
export async function send(lines, { folder, answered, signal = null }) {
  const waiting = [...lines];
  const kept = [];
  while (waiting.length && !signal?.aborted) {
    const batch = waiting.splice(0, sizeOf(waiting));
    try {
      const answer = await post(urls.url, { folder, text: batch.join("\n") });
      if (!answer.items?.length) throw new Error(words.add.strange);
      kept.push(...answer.kept);
      waiting.unshift(...answer.left);
      answered(answer, waiting.length);
      if (answer.trouble) return { kept: [...kept, ...waiting], trouble: answer.trouble };
    } catch (error) {
      return { kept: [...kept, ...batch, ...waiting], trouble: error.message };
    }
  }
  return { kept: [...kept, ...waiting], trouble: "" };
}

function sizeOf(lines) {
  let [size, characters] = [0, 0];
  for (const { length } of lines.slice(0, MOST_LINES)) {
    characters += length;
    if (characters > MOST_CHARACTERS) break;
    size += 1;
  }
  return Math.max(size, 1);
}

// What keeps somebody from going on, with the way to sign in where that is missing. The list behind
// the # of this page goes along.
export function troubleParts(trouble) {
  if (trouble !== words.add.unsigned) return [trouble];
  const isPage = location.pathname !== new URL(urls.url, location.href).pathname;
  const next = isPage ? location.pathname + location.search : urls.transfers;
  const href = `${urls.signin}?${new URLSearchParams({ next })}${location.hash}`;
  return [`${trouble} `, Object.assign(document.createElement("a"), { href, textContent: words.add.signin })];
}

export async function post(url, fields, { signal = null, isAgain = false } = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  let response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { ...headers(), "X-Requested-With": "ferry" },
      body: form,
      signal,
    });
  } catch {
    throw new Error(navigator.onLine ? words.add.cut : words.add.offline);
  }
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  if (!isAgain && renewToken(answer)) return post(url, fields, { signal, isAgain: true });
  throw new Error(answer?.reason || (response.redirected ? words.add.unsigned : words.add.strange));
}

export const uploadUrl = (folder) => `${urls.url}?folder=${encodeURIComponent(folder)}`;

export const sendFile = (file, folder) =>
  new Promise((resolve) => {
    const upload = new Upload(file, uploadUrl(folder), ({ state, answer, reason }) => {
      if (state === "done" || state === "failed")
        resolve({ isWell: state === "done", reason, item: answer?.items?.[0] });
    });
    upload.start();
  });

export function tellOthers() {
  document.dispatchEvent(new CustomEvent("transfers-changed"));
}
