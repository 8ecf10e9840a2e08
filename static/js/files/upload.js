import { formatSize, formatTime } from "../units.js";
import { fill, words } from "../words.js";
import { Pace } from "./pace.js";

const DRAW_MS = 250;
const REFUSALS = [403, 413, 503];

// The upload of one file: queued, uploading, moving (sent, but no response yet), done, failed, or stopped.
export class Upload {
  state = "queued";
  sent = 0;
  row = null;
  xhr = null;
  answer = null;
  reason = "";
  pace = null;
  drawnAt = 0;

  constructor(file, url, onChange) {
    this.file = file;
    this.url = url;
    this.onChange = onChange;
  }

  start({ isRetry = false } = {}) {
    const form = new FormData();
    form.append("file", this.file, this.file.name);
    this.state = "uploading";
    this.pace = new Pace(performance.now());
    const xhr = this.request({ onAnswer: () => this.handleAnswer(isRetry), onCut: () => this.requestReason(isRetry) });
    xhr.upload.addEventListener("progress", ({ loaded, total }) => this.progress(loaded, total));
    xhr.upload.addEventListener("load", () => this.setState("moving"));
    xhr.send(form);
    this.show();
  }

  // If the server refuses an upload early, the connection may close before the reason arrives. A request
  // without the file gets the reason.
  requestReason(isRetry) {
    const onCut = () => this.fail(words.upload.cut);
    const onAnswer = () => (REFUSALS.includes(this.xhr.status) ? this.handleAnswer(isRetry) : onCut());
    this.request({ onAnswer, onCut }).send(new FormData());
  }

  request({ onAnswer, onCut }) {
    const xhr = new XMLHttpRequest();
    this.xhr = xhr;
    xhr.addEventListener("load", onAnswer);
    xhr.addEventListener("error", onCut);
    xhr.open("POST", this.url);
    xhr.setRequestHeader("X-Requested-With", "ferry");
    xhr.setRequestHeader("X-File-Size", String(this.file.size));
    for (const [name, value] of Object.entries(headers())) xhr.setRequestHeader(name, value);
    return xhr;
  }

  stop() {
    this.xhr?.abort();
    this.state = "stopped";
  }

  retry() {
    this.sent = 0;
    this.setState("queued");
  }

  progress(loaded, total) {
    const now = performance.now();
    this.sent = total ? Math.min(this.file.size, (loaded / total) * this.file.size) : 0;
    this.pace.add(now, this.sent);
    if (now - this.drawnAt > DRAW_MS) this.show();
  }

  handleAnswer(isRetry) {
    const { status, responseURL } = this.xhr;
    const answer = this.read();
    this.answer = answer;
    if (answer?.ok) return this.setState("done");
    if (!isRetry && renewToken(answer)) return this.start({ isRetry: true });
    const isStranger = status === 401 || new URL(responseURL).pathname !== new URL(this.url, location.href).pathname;
    this.fail(
      answer?.reason ||
        (isStranger ? words.upload.unsigned : status === 413 ? words.upload.large : words.upload.strange),
    );
  }

  read() {
    try {
      return JSON.parse(this.xhr.responseText);
    } catch {
      return null;
    }
  }

  fail(reason) {
    if (this.state === "stopped") return;
    this.reason = reason;
    this.setState("failed");
  }

  setState(state) {
    if (this.state === "stopped") return;
    this.state = state;
    this.show();
    if (state !== "moving") this.onChange(this);
  }

  drawRow(template) {
    this.row = template.content.firstElementChild.cloneNode(true);
    this.row.querySelector("bdi").textContent = this.file.name;
    this.row.querySelector("progress").setAttribute("aria-label", this.file.name);
    this.row
      .querySelector("[data-do=cancel]")
      .setAttribute("aria-label", fill(words.upload.cancel, { name: this.file.name }));
    this.show();
    return this.row;
  }

  show() {
    if (!this.row) return;
    const { file, state } = this;
    const find = (selector) => this.row.querySelector(selector);
    const isGoing = state === "uploading";
    const percent = file.size ? Math.floor((this.sent / file.size) * 100) : 0;
    this.drawnAt = performance.now();
    this.row.dataset.state = state;
    find("progress").value = state === "moving" ? 100 : percent;
    find(".route").hidden = state === "failed";
    find(".state").textContent = this.stateWords ?? "";
    find(".of").textContent =
      state === "failed"
        ? this.reason
        : fill(words.upload.of, { done: formatSize(this.sent), total: formatSize(file.size) });
    find(".rate").textContent = isGoing && this.pace.rate ? formatSize(this.pace.rate, true) : "";
    find(".left").textContent = isGoing ? this.left : "";
    find(".transfer-pct").replaceChildren(
      ...(isGoing ? [String(percent), Object.assign(document.createElement("small"), { textContent: "%" })] : []),
    );
    find("[data-do=retry]").hidden = state !== "failed";
  }

  get stateWords() {
    return {
      queued: words.upload.waiting,
      uploading: words.upload.going,
      moving: words.upload.ending,
      failed: words.upload.failed,
    }[this.state];
  }

  get left() {
    const seconds = this.pace.left(performance.now(), this.file.size);
    return seconds === null ? "" : fill(words.upload.left, { time: formatTime(seconds) });
  }
}

export function headers() {
  return JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");
}

// Take the new CSRF token from a refusal: signing in, in any tab, makes the old one invalid. Return
// whether there was one.
export function renewToken(answer) {
  if (!answer?.token) return false;
  document.body.setAttribute("hx-headers", JSON.stringify({ ...headers(), "X-CSRFToken": answer.token }));
  return true;
}
