// What the server makes of each line, told before it is sent. The server judges again.
const LINK = /(?<![^\s<>"'([{])(?=(?:magnet:\?|https?:\/\/)\S)/i;
const HASH = /^[0-9a-f]{40}$/i;
const TOPIC = /^urn:(?:btih:(?:[0-9a-f]{40}|[a-z2-7]{32})|btmh:1220[0-9a-f]{64})$/i;
const UNSEEN = /[\u0000-\u001f\u007f]/;
const LONGEST_ADDRESS = 8000;
const MOST_LINES = 10_000;

// Equal ones count once. Each has a key, and the text that is sent for it.
export function read(text) {
  const found = new Map();
  for (const [at, line] of text.split(/\r\n|\r|\n/).slice(0, MOST_LINES).entries()) {
    if (!line.trim()) continue;
    for (const item of itemsOf(line.trim())) {
      if (!found.has(item.key)) found.set(item.key, { ...item, number: at + 1 });
    }
  }
  return [...found.values()];
}

function itemsOf(line) {
  const [before, ...links] = split(line);
  if (links.length) return links.map((link) => (/^magnet:/i.test(link) ? magnet(link.trim()) : address(link)));
  if (HASH.test(before)) return [magnet(`magnet:?xt=urn:btih:${before}`, line)];
  return [unreadable(line, why(line))];
}

// Firefox and Chromium give the empty first piece of a line that begins with a link; none is lost.
function split(line) {
  const starts = [...line.matchAll(new RegExp(LINK, "gi"))].map(({ index }) => index);
  const ends = [...starts.slice(1), line.length];
  return [line.slice(0, starts[0] ?? line.length), ...starts.map((start, at) => line.slice(start, ends[at]))];
}

function why(line) {
  if (UNSEEN.test(line)) return "unseen";
  if (/^magnet:/i.test(line)) return "nohash";
  return /^[a-z][a-z0-9+.-]*:\S/i.test(line) ? "otherscheme" : "nolink";
}

const unreadable = (line, reason) => ({ key: line, line, name: line, reason });

function magnet(link, line = link) {
  if (UNSEEN.test(link)) return unreadable(line, "unseen");
  const whole = link.split(/[<>"]/)[0].trim().replaceAll(/\s/g, "%20").replaceAll("&amp;", "&");
  const fields = [...new URLSearchParams(whole.slice(8))].map(([key, value]) => [key.toLowerCase().split(".")[0], value]);
  const valuesOf = (wanted) => fields.filter(([key]) => key === wanted).map(([, value]) => value);
  const topic = valuesOf("xt").find((value) => TOPIC.test(value));
  if (!topic) return unreadable(line, "nohash");
  const size = valuesOf("xl").map((value) => (/^[0-9]{1,18}$/.test(value) ? Number(value) : 0)).find(Boolean) ?? 0;
  const name = (valuesOf("dn")[0] ?? "").trim() || topic.split(":").at(-1).toLowerCase();
  return { key: topic.toLowerCase(), line, kind: "magnet", name: name.slice(0, 300), size, trackers: valuesOf("tr").length };
}

function address(link) {
  let url = link.split(/[\s<>"'`]/)[0];
  while (/[.,;:!?)\]}]$/.test(url) && !(url.endsWith(")") && count(url, "(") >= count(url, ")"))) url = url.slice(0, -1);
  const parts = URL.canParse(url) ? new URL(url) : null;
  if (url.length > LONGEST_ADDRESS) return unreadable(link.trim(), "toolong");
  if (UNSEEN.test(url) || url.includes("\\")) return unreadable(link.trim(), "unseen");
  if (!parts?.hostname) return unreadable(link.trim(), "noaddress");
  if (parts.username || parts.password) return unreadable(link.trim(), "password");
  return { key: url, line: url, kind: "address", name: nameOf(parts).slice(0, 300), host: parts.hostname, size: 0 };
}

const count = (text, mark) => text.split(mark).length - 1;

function nameOf({ pathname, hostname }) {
  const last = pathname.replace(/\/+$/, "").split("/").at(-1);
  try {
    return decodeURIComponent(last) || hostname;
  } catch {
    return last || hostname;
  }
}
