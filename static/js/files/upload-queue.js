// A panel with the uploads of a page: rows for those that have begun, and the number of the rest. While a set
// arrives, rows keep their places, so that nothing moves under the pointer.
import { makeElement } from "../elements.js";
import { tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { uploadOf } from "./resumable.js";
import { Turns } from "./turns.js";

const IN_SIGHT = 12;

export class UploadQueue extends Turns {
  #isFinishing = false;
  #lock = null;

  // The panel contains the list of rows and their template. `home` is the id of what gets the focus when no row
  // is left. `announce` announces a special outcome, and returns whether it did. `finish` runs when the last file
  // has arrived, and the rows stay until it's done. `draw` updates the rest of the panel.
  constructor(panel, { home, announce = () => false, finish = () => {}, draw = () => {}, make = uploadOf }) {
    super({ make, announce, finish: (count) => this.#end(count, finish) });
    this.panel = panel;
    this.home = home;
    this.drawRest = draw;
    document.addEventListener("click", ({ target }) => this.#press(target));
    window.addEventListener("beforeunload", (event) => this.isActive && event.preventDefault());
    // The browser releases the lock of a page that is hidden.
    document.addEventListener("visibilitychange", () => {
      this.#lock = null;
      this.#keepAwake();
    });
  }

  // Keep the screen on while files are sent: soon after it goes off, phones stop the page.
  #keepAwake() {
    if (this.isActive) {
      this.#lock ??= navigator.wakeLock?.request("screen").catch(() => null);
      return;
    }
    this.#lock?.then((lock) => lock?.release());
    this.#lock = null;
  }

  async #end(count, finish) {
    tell(fill(words.upload.count, { count }));
    this.#isFinishing = true;
    await finish();
    this.#isFinishing = false;
    this.draw();
  }

  #press(target) {
    const action = this.panel.contains(target) && target.closest("[data-do]")?.dataset.do;
    const upload = this.uploads.find(({ row }) => row?.contains(target));
    if (action === "retry") upload.retry();
    if (action === "cancel") this.cancel([upload]);
    if (action === "clear") this.cancel(this.uploads);
  }

  draw() {
    this.#keepAwake();
    const [list, template] = ["ul", "template"].map((name) => this.panel.querySelector(name));
    const isOpen = this.isActive || this.#isFinishing;
    const begun = this.uploads.filter(({ row, state }) => !row && state !== "queued");
    for (const row of [...list.children]) {
      if (this.uploads.some((each) => each.row === row)) continue;
      const upload = begun.shift();
      const isKept = !upload && isOpen && row.dataset.state === "done";
      this.#replace(row, upload ? [this.#rowFor(upload, template)] : isKept ? [row] : []);
    }
    for (const upload of begun.slice(0, IN_SIGHT - list.childElementCount)) list.append(this.#rowFor(upload, template));
    this.panel.hidden = !list.childElementCount;
    const count = this.uploads.filter(({ row }) => !row).length;
    const more = this.panel.querySelector("#uploads-more");
    more.textContent = count ? fill(words.upload.more, { count }) : "";
    more.hidden = this.panel.hidden || (more.hidden && !count);
    this.drawRest();
  }

  // Put another row in the place of one whose upload is gone, or none, and pass the focus on.
  #replace(row, heirs) {
    const isFocused = row.contains(document.activeElement);
    const rows = [...row.parentElement.children];
    const at = rows.indexOf(row);
    if (heirs[0] !== row) row.replaceWith(...heirs);
    if (!isFocused) return;
    const next = [...heirs, ...rows.slice(at + 1), ...rows.slice(0, at).reverse()];
    const cancel = next.map((each) => each.querySelector("[data-do=cancel]:enabled")).find(Boolean);
    (cancel ?? document.getElementById(this.home)).focus();
  }

  #rowFor(upload, template) {
    const { name } = upload.file;
    const row = template.content.firstElementChild.cloneNode(true);
    Object.assign(row.querySelector("bdi"), { textContent: name, title: name });
    row.querySelector("progress").setAttribute("aria-label", name);
    row.querySelector("[data-do=cancel]").setAttribute("aria-label", fill(words.upload.cancel, { name }));
    upload.row = row;
    upload.show = () => {
      show(row, upload);
      this.drawRest();
    };
    show(row, upload);
    return row;
  }
}

function show(row, { state, percent, texts }) {
  const find = (selector) => row.querySelector(selector);
  const small = makeElement("small", { textContent: "%" });
  row.dataset.state = state;
  find("progress").value = ["moving", "done"].includes(state) ? 100 : percent;
  find(".route").hidden = state === "failed";
  for (const [name, text] of Object.entries(texts)) find(`.${name}`).textContent = text;
  find(".transfer-pct").replaceChildren(...(state === "uploading" ? [String(percent), small] : []));
  find("[data-do=retry]").hidden = state !== "failed";
  find("[data-do=cancel]").disabled = state === "done";
}
