// Send lines to the server in small batches, one request at a time, so that a slow service blocks
// neither the page nor a thread of the server.
import { makeElement } from "../elements.js";
import { request } from "../server.js";
import { words } from "../words.js";

const MOST_LINES = 25;
const MOST_CHARACTERS = 300_000;

export const urls = document.getElementById("sending").dataset;

// Return the lines that belong back in the field, and what stopped the others, if anything did. Calls
// `onAnswer` with each response. `signal` stops after the current request.
export async function send(lines, { folder, site = "", choose = false, onAnswer, signal = null }) {
  const queue = [...lines];
  const keptLines = [];
  while (queue.length && !signal?.aborted) {
    const batch = queue.splice(0, sizeOf(queue));
    try {
      const fields = { folder, text: batch.join("\n"), ...(site && { from: site }), ...(choose && { choose: "1" }) };
      const answer = await post(urls.url, fields);
      if (!answer.items?.length) throw new Error(words.add.strange);
      keptLines.push(...answer.kept);
      queue.unshift(...answer.left);
      onAnswer(answer, queue.length);
      if (answer.trouble) return { keptLines: [...keptLines, ...queue], trouble: answer.trouble };
    } catch (error) {
      return { keptLines: [...keptLines, ...batch, ...queue], trouble: error.message };
    }
  }
  return { keptLines: [...keptLines, ...queue], trouble: "" };
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

// Return the nodes of an error message, with a sign-in link if the user is signed out. The link keeps
// this page's fragment, which may hold a list.
export function troubleParts(trouble) {
  if (trouble !== words.add.unsigned) return [trouble];
  const isPage = location.pathname !== new URL(urls.url, location.href).pathname;
  const next = isPage ? location.pathname + location.search : urls.transfers;
  const href = `${urls.signin}?${new URLSearchParams({ next })}${location.hash}`;
  return [`${trouble} `, makeElement("a", { href, textContent: words.add.signin })];
}

export async function post(url, fields, signal = null) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  const response = await request(url, { method: "POST", body, signal }).catch(() => {
    throw new Error(navigator.onLine ? words.add.cut : words.add.offline);
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer) return answer;
  throw new Error(answer?.reason || (response.redirected ? words.add.unsigned : words.add.strange));
}

export const uploadUrl = (folder, choose = false) =>
  `${urls.url}?${new URLSearchParams({ folder, ...(choose && { choose: "1" }) })}`;

// Have Transfers offer the choice of files: this page, or the next if nothing is left to do here.
export function awaitFiles(items, mayLeave) {
  const keys = items.filter(({ outcome }) => outcome === "added").map(({ key }) => key);
  const isElsewhere = document.dispatchEvent(new CustomEvent("files-awaited", { detail: keys, cancelable: true }));
  if (!isElsewhere || !mayLeave || keys.length < items.length) return;
  location.assign(`${urls.transfers}?${new URLSearchParams(keys.map((key) => ["choose", key]))}`);
}

export function tellOthers() {
  document.dispatchEvent(new CustomEvent("transfers-changed"));
}
