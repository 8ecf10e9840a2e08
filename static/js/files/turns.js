// Run up to three uploads at once, in the order in which they were added, and sum them up.
import { Pace } from "./pace.js";

const AT_ONCE = 3;

const isRunning = ({ state }) => state === "uploading" || state === "moving";
const isWaiting = ({ state }) => state === "queued";
const newSet = () => ({ files: 0, bytes: 0, sentBytes: 0, pace: new Pace(performance.now()) });
const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

export class Turns {
  uploads = [];
  arrived = 0;
  #set = newSet(); // the one that began when nothing was in progress

  constructor(hooks) {
    this.hooks = hooks;
  }

  draw() {}

  get isActive() {
    return this.uploads.some((upload) => isWaiting(upload) || isRunning(upload));
  }

  add(files) {
    if (!this.isActive) this.#set = newSet();
    this.uploads.push(...files.map((each) => this.#make(each)));
    this.#go();
  }

  #make({ file, url }) {
    const upload = this.hooks.make(file, url, (each) => this.follow(each));
    upload.noteSent = (bytes) => {
      this.#set.sentBytes += bytes;
      this.#set.pace.add(performance.now(), this.#set.sentBytes);
    };
    return upload;
  }

  // The files and bytes of the set, and the seconds left, or null if it's too early to tell or nothing moves.
  get sums() {
    const { files: done, bytes, sentBytes, pace } = this.#set;
    const files = this.uploads.filter(({ state }) => state !== "failed");
    const sent = sum(files.map((each) => each.sent));
    const missing = sum(files.map(({ file }) => file.size)) - sent;
    const isMoving = files.some(({ state, isCut }) => state === "uploading" && !isCut);
    return {
      done,
      total: done + this.uploads.length,
      doneBytes: bytes + sent,
      totalBytes: bytes + sum(this.uploads.map(({ file }) => file.size)),
      seconds: isMoving ? pace.left(performance.now(), sentBytes + missing) : null,
    };
  }

  follow(upload) {
    if (upload.state === "done") {
      this.uploads = this.uploads.filter((each) => each !== upload);
      this.#set.files += 1;
      this.#set.bytes += upload.file.size;
      if (!this.hooks.announce(upload)) this.arrived += 1;
    }
    this.#go();
  }

  cancel(uploads) {
    for (const upload of uploads) upload.stop();
    this.uploads = this.uploads.filter((each) => !uploads.includes(each));
    this.#go();
  }

  #go() {
    if (this.arrived && !this.isActive) {
      this.hooks.finish(this.arrived);
      this.arrived = 0;
    }
    const running = this.uploads.filter(isRunning).length;
    for (const upload of this.uploads.filter(isWaiting).slice(0, Math.max(AT_ONCE - running, 0))) upload.start();
    this.draw();
  }
}
