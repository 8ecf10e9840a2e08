// Run up to three uploads at once, in the order in which they were added.
const AT_ONCE = 3;

const isRunning = ({ state }) => state === "uploading" || state === "moving";
const isWaiting = ({ state }) => state === "queued";

export class Turns {
  uploads = [];
  arrived = 0;

  constructor(hooks) {
    this.hooks = hooks;
  }

  draw() {}

  get isActive() {
    return this.uploads.some((upload) => isWaiting(upload) || isRunning(upload));
  }

  /** @param {{ file: File, url: string }[]} files */
  add(files) {
    this.uploads.push(...files.map(({ file, url }) => this.hooks.make(file, url, (upload) => this.follow(upload))));
    this.#go();
  }

  follow(upload) {
    if (upload.state === "done") {
      this.uploads = this.uploads.filter((each) => each !== upload);
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
