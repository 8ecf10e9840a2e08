// Upload files with the tus protocol: after an interruption, such as a phone's sleep, the server reports how much
// it has, and only the rest is sent. The browser remembers uploads, so that they also resume in a new tab.
import { renewToken, request } from "../server.js";
import { browser, UPLOADS_KEY } from "../storage.js";
import { words } from "../words.js";
import { Pace } from "./pace.js";
import { Upload } from "./upload.js";

// Photos are larger. The protocol's own request takes longer than a smaller file.
export const LEAST_BYTES = 256 * 2 ** 10;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
const MOST_REMEMBERED = 200;
// Of several machines, each may get a request; one of them has what arrived.
const ELSEWHERE = 421;
const MOST_ELSEWHERE = 12;
const PROTOCOL = { "Tus-Resumable": "1.0.0" };

class Refusal extends Error {}

export function uploadOf(file, url, onChange) {
  return new (file.size < LEAST_BYTES ? Upload : ResumableUpload)(file, url, onChange);
}

class ResumableUpload extends Upload {
  elsewhereCount = 0;
  wake = () => {};

  constructor(file, url, onChange) {
    super(file, url, onChange);
    this.key = JSON.stringify([url, file.name, file.size, file.lastModified]);
  }

  async start() {
    this.setCut(false);
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LONGEST_WAIT_MS)) {
      const before = this.sent;
      try {
        await this.resume();
        remember(this.key, null);
        return this.setState("done");
      } catch (trouble) {
        if (this.state === "stopped") return;
        if (trouble instanceof Refusal) return this.fail(trouble.message);
      }
      if (this.sent > before) wait = FIRST_WAIT_MS;
      this.setCut(true);
      await this.pause(wait);
      if (this.state === "stopped") return;
    }
  }

  async resume() {
    const earlier = await this.findEarlier();
    const url = earlier?.url ?? (await this.begin());
    if (this.state === "stopped") return this.discard();
    this.sent = earlier?.offset ?? 0;
    this.elsewhereCount = 0;
    this.setCut(false);
    await this.send(url, this.sent);
  }

  // Return the URL of an earlier upload of this file and how much of it has arrived, or null.
  async findEarlier() {
    const url = readUploads()[this.key]?.url;
    if (!url) return null;
    const response = await this.fetch(url, "HEAD");
    const offset = response.headers.get("Upload-Offset");
    if (response.ok && offset !== null) return { url, offset: Number(offset) };
    if (response.status === ELSEWHERE && this.elsewhereCount++ < MOST_ELSEWHERE) throw new Error("again");
    if (![404, ELSEWHERE].includes(response.status)) await this.refuse(response);
    remember(this.key, null);
    return null;
  }

  async begin() {
    const bytes = new TextEncoder().encode(this.file.name);
    const name = btoa(String.fromCodePoint(...bytes));
    const more = { "Upload-Length": String(this.file.size), "Upload-Metadata": `filename ${name}` };
    const response = await this.fetch("../uploads/", "POST", more);
    const url = response.headers.get("Location");
    if (response.status !== 201 || !url) await this.refuse(response);
    remember(this.key, { url, at: Date.now() });
    return url;
  }

  fetch(path, method, more = {}) {
    const url = new URL(path, new URL(this.url, location.href));
    return request(url, { method, headers: { ...PROTOCOL, ...more } });
  }

  async refuse(response) {
    if (response.redirected || response.status === 401) throw new Refusal(words.upload.unsigned);
    const answer = await response.json().catch(() => null);
    // Only Ferry gives a reason. Without one, a proxy responded, for example because Ferry is restarting.
    if (response.status >= 500 && !answer?.reason) throw new Error("again");
    throw new Refusal(answer?.reason || words.upload.strange);
  }

  /** @returns {Promise<void>} */
  send(url, offset) {
    return new Promise((resolve, reject) => {
      const onCut = () => reject(new Error("again"));
      const onAnswer = () => {
        if (xhr.status === 204) return resolve();
        const answer = xhr.response;
        // Another window or a lost connection may have sent more in the meantime, so read the offset again.
        if ([409, ELSEWHERE].includes(xhr.status) || renewToken(answer) || !answer?.reason) return onCut();
        reject(new Refusal(answer.reason));
      };
      const more = { ...PROTOCOL, "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(offset) };
      const xhr = this.request({ onAnswer, onCut, method: "PATCH", url: new URL(url, location.href), more });
      xhr.upload.addEventListener("progress", ({ loaded }) => this.progress(offset + loaded, this.file.size));
      xhr.upload.addEventListener("load", () => this.setState("moving"));
      xhr.addEventListener("abort", onCut);
      xhr.send(this.file.slice(offset));
    });
  }

  stop() {
    super.stop();
    this.wake();
    this.discard();
  }

  discard() {
    const url = readUploads()[this.key]?.url;
    remember(this.key, null);
    if (url) this.fetch(url, "DELETE").catch(() => {});
  }

  setCut(isCut) {
    this.isCut = isCut;
    this.state = "uploading";
    this.pace = new Pace(performance.now(), this.sent);
    this.show();
  }

  /** @returns {Promise<void>} */
  pause(milliseconds) {
    return new Promise((resolve) => {
      this.wake = () => resolve();
      window.addEventListener("online", this.wake, { once: true });
      setTimeout(this.wake, milliseconds);
    });
  }
}

const readUploads = () => browser.readJson(UPLOADS_KEY) ?? {};

function remember(key, upload) {
  const { [key]: _before, ...others } = readUploads();
  const latest = Object.entries(others).slice(1 - MOST_REMEMBERED);
  browser.write(UPLOADS_KEY, Object.fromEntries(upload ? [...latest, [key, upload]] : latest));
}
