import { headers, renewToken } from "../server.js";
import { formatSize } from "../sizes.js";
import { formatTime } from "../times.js";
import { fill, words } from "../words.js";
import { Pace } from "./pace.js";

const SHOW_MS = 250;
const REFUSALS = [403, 413, 503];

// The upload of one file: queued, uploading, moving (sent, but no response yet), done, failed, or stopped.
export class Upload {
  state = "queued";
  isCut = false; // and will resume
  sent = 0;
  row = null;
  xhr = null;
  answer = null;
  reason = "";
  pace = null;
  shownAt = 0;
  show = () => {};
  noteSent = (_bytes) => {};

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

  /** @param {any} options */
  request({ onAnswer, onCut, method = "POST", url = this.url, more = { "X-File-Size": String(this.file.size) } }) {
    const xhr = new XMLHttpRequest();
    this.xhr = xhr;
    xhr.responseType = "json"; // The response is null if it's something else, such as a proxy's page.
    xhr.addEventListener("load", onAnswer);
    xhr.addEventListener("error", onCut);
    xhr.open(method, url);
    for (const [name, value] of Object.entries({ ...headers(), ...more })) xhr.setRequestHeader(name, value);
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
    const before = this.sent;
    this.sent = total ? Math.min(this.file.size, (loaded / total) * this.file.size) : 0;
    this.noteSent(Math.max(this.sent - before, 0));
    this.pace.add(now, this.sent);
    if (now - this.shownAt <= SHOW_MS) return;
    this.shownAt = now;
    this.show();
  }

  handleAnswer(isRetry) {
    const { status, response: answer, responseURL } = this.xhr;
    this.answer = answer;
    if (answer?.ok) return this.setState("done");
    if (!isRetry && renewToken(answer)) return this.start({ isRetry: true });
    const isStranger = status === 401 || new URL(responseURL).pathname !== new URL(this.url, location.href).pathname;
    const guess = isStranger ? words.upload.unsigned : status === 413 ? words.upload.large : words.upload.strange;
    this.fail(answer?.reason || guess);
  }

  fail(reason) {
    this.reason = reason;
    this.setState("failed");
  }

  setState(state) {
    if (this.state === "stopped") return;
    this.state = state;
    this.show();
    if (state !== "moving") this.onChange(this);
  }

  get percent() {
    return this.file.size ? Math.floor((this.sent / this.file.size) * 100) : 0;
  }

  // The texts of its row, by their class.
  get texts() {
    const { file, pace, reason, sent, state } = this;
    const isGoing = state === "uploading";
    const seconds = isGoing ? pace.left(performance.now(), file.size) : null;
    const progress = fill(words.upload.of, { done: formatSize(sent), total: formatSize(file.size) });
    return {
      state: words.upload[this.isCut && isGoing ? "resuming" : state] ?? "",
      of: state === "failed" ? reason : progress,
      rate: isGoing && pace.rate ? formatSize(pace.rate, true) : "",
      left: seconds === null ? "" : fill(words.upload.left, { time: formatTime(seconds) }),
    };
  }
}
