// A queue of uploads, with rows for the first ones.
import { tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { uploadOf } from "./resumable.js";
import { isAlive, nextOf } from "./turns.js";

const IN_SIGHT = 12;

export class UploadQueue {
  uploads = [];
  arrived = 0;

  /**
   * @param {HTMLElement} panel contains the list of rows and their template
   * @param {object} options
   * @param {string} options.home the id of the element that gets the focus when no row is left
   * @param {(upload: import("./upload.js").Upload) => boolean} [options.announce] announces a special outcome; returns whether it did
   * @param {() => void} [options.finish] runs when the last file has arrived
   * @param {() => void} [options.draw] updates the rest of the panel
   * @param {typeof uploadOf} [options.make] creates the upload of a file
   */
  constructor(panel, { home, announce = () => false, finish = () => {}, draw = () => {}, make = uploadOf }) {
    this.panel = panel;
    this.home = home;
    this.announce = announce;
    this.finish = finish;
    this.draw = draw;
    this.make = make;
    document.addEventListener("click", ({ target }) => this.#press(target));
    window.addEventListener("beforeunload", (event) => {
      if (this.uploads.some(isAlive)) event.preventDefault();
    });
  }

  /** @param {{ file: File, url: string }[]} files */
  add(files) {
    this.uploads.push(...files.map(({ file, url }) => this.make(file, url, (upload) => this.follow(upload))));
    this.#go();
  }

  follow(upload) {
    if (upload.state === "done") {
      this.#remove(upload);
      if (!this.announce(upload)) this.arrived += 1;
    }
    if (this.arrived && !this.uploads.some(isAlive)) {
      tell(fill(words.upload.done, { count: this.arrived }));
      this.finish();
      this.arrived = 0;
    }
    this.#go();
  }

  #go() {
    for (const upload of nextOf(this.uploads)) upload.start();
    this.panel.hidden = !this.uploads.length;
    const [list, template] = ["ul", "template"].map((name) => this.panel.querySelector(name));
    for (const upload of this.uploads.slice(0, IN_SIGHT)) if (!upload.row) list.append(upload.drawRow(template));
    this.draw();
  }

  #press(target) {
    const action = this.panel.contains(target) && target.closest("[data-do]")?.dataset.do;
    if (!action) return;
    const upload = this.uploads.find(({ row }) => row?.contains(target));
    if (action === "retry") upload.retry();
    if (action === "cancel") this.#cancel(upload);
    if (action === "clear") for (const each of this.uploads) this.#cancel(each);
    this.#go();
  }

  #cancel(upload) {
    upload.stop();
    this.#remove(upload);
  }

  #remove(upload) {
    const next = upload.row?.nextElementSibling ?? upload.row?.previousElementSibling;
    const hadFocus = upload.row?.contains(document.activeElement);
    this.uploads = this.uploads.filter((each) => each !== upload);
    upload.row?.remove();
    if (hadFocus) (next?.querySelector("[data-do=cancel]") ?? document.getElementById(this.home)).focus();
  }
}
