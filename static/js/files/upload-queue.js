// Files on their way, with rows for the first ones.
import { tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { uploadOf } from "./resumable.js";
import { isAlive, nextOf } from "./turns.js";

const IN_SIGHT = 12;

export class UploadQueue {
  uploads = [];
  arrived = 0;

  /**
   * @param {HTMLElement} panel holds the list of rows and the template of one
   * @param {object} acts
   * @param {string} acts.home the id of what gets the focus after the last row
   * @param {(upload: import("./upload.js").Upload) => boolean} [acts.announce] says what became of a file, if it needs words of its own
   * @param {() => void} [acts.finish] follows the arrival of the last file
   * @param {() => void} [acts.draw] shows what the panel has beside the rows
   * @param {typeof uploadOf} [acts.make] makes the upload of one file
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
    for (const upload of this.uploads.slice(0, IN_SIGHT)) if (!upload.row) list.append(upload.drawn(template));
    this.draw();
  }

  #press(target) {
    const act = this.panel.contains(target) && target.closest("[data-do]")?.dataset.do;
    if (!act) return;
    const upload = this.uploads.find(({ row }) => row?.contains(target));
    if (act === "retry") upload.again();
    if (act === "cancel") this.#cancel(upload);
    if (act === "clear") for (const each of this.uploads) this.#cancel(each);
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
