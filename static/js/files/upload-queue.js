// A panel with the uploads of a page, and rows for the first ones.
import { tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { uploadOf } from "./resumable.js";
import { Turns } from "./turns.js";

const IN_SIGHT = 12;

export class UploadQueue extends Turns {
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
    const sayAndFinish = (count) => {
      tell(fill(words.upload.done, { count }));
      finish();
    };
    super({ make, announce, finish: sayAndFinish });
    this.panel = panel;
    this.home = home;
    this.drawRest = draw;
    document.addEventListener("click", ({ target }) => this.#press(target));
    window.addEventListener("beforeunload", (event) => this.isActive && event.preventDefault());
  }

  #press(target) {
    const action = this.panel.contains(target) && target.closest("[data-do]")?.dataset.do;
    const upload = this.uploads.find(({ row }) => row?.contains(target));
    if (action === "retry") upload.retry();
    if (action === "cancel") this.cancel([upload]);
    if (action === "clear") this.cancel(this.uploads);
  }

  draw() {
    const [list, template] = ["ul", "template"].map((name) => this.panel.querySelector(name));
    for (const row of [...list.children]) if (!this.uploads.some((each) => each.row === row)) this.#remove(row);
    for (const upload of this.uploads.slice(0, IN_SIGHT)) if (!upload.row) list.append(rowFor(upload, template));
    this.panel.hidden = !this.uploads.length;
    this.drawRest();
  }

  #remove(row) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    const hadFocus = row.contains(document.activeElement);
    row.remove();
    if (hadFocus) (next?.querySelector("[data-do=cancel]") ?? document.getElementById(this.home)).focus();
  }
}

function rowFor(upload, template) {
  const { name } = upload.file;
  const row = template.content.firstElementChild.cloneNode(true);
  row.querySelector("bdi").textContent = name;
  row.querySelector("progress").setAttribute("aria-label", name);
  row.querySelector("[data-do=cancel]").setAttribute("aria-label", fill(words.upload.cancel, { name }));
  upload.row = row;
  upload.show = () => show(row, upload);
  upload.show();
  return row;
}

function show(row, { state, percent, texts }) {
  const find = (selector) => row.querySelector(selector);
  const small = Object.assign(document.createElement("small"), { textContent: "%" });
  row.dataset.state = state;
  find("progress").value = state === "moving" ? 100 : percent;
  find(".route").hidden = state === "failed";
  for (const [name, text] of Object.entries(texts)) find(`.${name}`).textContent = text;
  find(".transfer-pct").replaceChildren(...(state === "uploading" ? [String(percent), small] : []));
  find("[data-do=retry]").hidden = state !== "failed";
}
