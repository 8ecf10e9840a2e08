// The pages of a document, drawn as the user scrolls near them. The library loads with the first document.
import { makeElement } from "../elements.js";
import { onDemand } from "../on-demand.js";
import { fill, words } from "../words.js";

const NEAR = "100% 0px";
const MAX_PIXELS = 2 ** 23;
const MAX_IMAGE_PIXELS = 2 ** 26;
const CHUNK_BYTES = 2 ** 18;
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const REDRAW_MS = 150;

export function mount(viewer, on) {
  const body = viewer.querySelector(".document");
  open(viewer, body, on).catch((error) => {
    if (!on.signal.aborted) explain(body, error.name === "PasswordException" ? "locked" : "broken");
  });
}

function explain(body, reason) {
  body.querySelector(".fallback p").textContent = words.previews[reason];
  body.classList.remove("opening");
}

async function open(viewer, body, on) {
  const { library: address, worker, document: url } = body.dataset;
  body.classList.add("opening");
  const library = await onDemand(() => import(address));
  if (!library) return body.classList.remove("opening");
  const urlBeside = (name) => new URL(`${name}/`, new URL(address, location.href)).href;
  library.GlobalWorkerOptions.workerSrc = worker;
  const task = library.getDocument({
    url,
    wasmUrl: urlBeside("."),
    cMapUrl: urlBeside("cmaps"),
    standardFontDataUrl: urlBeside("standard_fonts"),
    rangeChunkSize: CHUNK_BYTES,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    isEvalSupported: false,
    maxImageSize: MAX_IMAGE_PIXELS,
    verbosity: library.VerbosityLevel.ERRORS,
  });
  on.signal.addEventListener("abort", () => task.destroy());
  const pdf = await task.promise;
  const first = await pdf.getPage(1);
  if (on.signal.aborted) return;
  body.classList.remove("opening");
  new Pages(library, pdf, viewer, on).show(first.getViewport({ scale: 1 }));
}

class Pages {
  #zoom = ZOOMS.indexOf(1);
  #drawings = new Map();
  #redrawTimer = 0;

  constructor(library, pdf, viewer, on) {
    this.library = library;
    this.pdf = pdf;
    this.on = on;
    this.body = viewer.querySelector(".document");
    this.list = viewer.querySelector(".pages");
    this.bar = viewer.querySelector(".document-bar");
    this.observer = new IntersectionObserver((entries) => this.#follow(entries), { root: this.body, rootMargin: NEAR });
    this.resizing = new ResizeObserver(() => this.#redrawSoon());
  }

  show({ width, height }) {
    this.body.querySelector(".fallback").hidden = true;
    this.list.hidden = this.bar.hidden = false;
    const count = this.pdf.numPages;
    for (let number = 1; number <= count; number += 1) {
      const ariaLabel = fill(words.previews.page, { number, count });
      const page = makeElement("section", { ariaLabel }, blank(width, height));
      page.dataset.number = number;
      this.list.append(page);
      this.observer.observe(page);
    }
    this.resizing.observe(this.list);
    this.on(this.body, "scroll", () => this.#showNumber(), { passive: true });
    this.on(this.bar, "click", ({ target }) => this.#changeZoom(target.closest("[data-zoom]")?.dataset.zoom));
    this.#showNumber();
  }

  #follow(entries) {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) this.#draw(target);
      else this.#drop(target);
    }
  }

  // Free the memory of distant pages, since phones have little. Pages of a viewer that was closed are distant, too.
  #drop(page) {
    this.#drawings.get(page)?.cancel();
    if (this.#drawings.delete(page)) this.#clear(page);
  }

  async #draw(page) {
    if (this.#drawings.has(page)) return;
    const drawing = new Drawing(this.library, page);
    this.#drawings.set(page, drawing);
    try {
      await drawing.show(await this.pdf.getPage(Number(page.dataset.number)));
    } catch (error) {
      if (drawing.isCancelled || this.on.signal.aborted) return;
      console.warn(error);
      const message = this.body.querySelector("template").content.cloneNode(true);
      if (!page.querySelector(".words")) this.#clear(page, message);
    }
  }

  // Keep the size of the page, so that the others stay in place.
  #clear(page, ...more) {
    const { width, height } = page.querySelector("canvas");
    page.replaceChildren(blank(width, height), ...more);
  }

  #redrawSoon() {
    clearTimeout(this.#redrawTimer);
    this.#redrawTimer = setTimeout(() => this.#redraw(), REDRAW_MS);
  }

  #redraw() {
    for (const [page, drawing] of [...this.#drawings]) {
      if (!drawing.isOutgrown) continue;
      drawing.cancel();
      this.#drawings.delete(page);
      this.#draw(page);
    }
  }

  // A style sets the size of the pages: the page's policy allows styles if a script sets them.
  #changeZoom(direction) {
    if (!direction) return;
    const step = { in: 1, out: -1 }[direction];
    this.#zoom = Math.min(Math.max(this.#zoom + step, 0), ZOOMS.length - 1);
    const { scrollTop, scrollHeight } = this.body;
    this.list.style.setProperty("--zoom", ZOOMS[this.#zoom]);
    this.body.scrollTop = (scrollTop / scrollHeight) * this.body.scrollHeight;
    for (const button of this.bar.querySelectorAll("[data-zoom]")) {
      button.setAttribute("aria-disabled", this.#zoom === { in: ZOOMS.length - 1, out: 0 }[button.dataset.zoom]);
    }
  }

  #showNumber() {
    const { left, top, width, height } = this.body.getBoundingClientRect();
    const page = document
      .elementsFromPoint(left + width / 2, top + height / 2)
      .find((each) => each.matches(".pages > section"));
    if (page) this.bar.querySelector("output").textContent = page.getAttribute("aria-label");
  }
}

// A canvas of this size. It takes no memory until something is drawn on it.
const blank = (width, height) => makeElement("canvas", { width, height });

// One page: its picture, and its text over it, which people can select, copy, and have read out.
class Drawing {
  #task = null;
  isCancelled = false;

  constructor(library, page) {
    this.library = library;
    this.page = page;
    this.width = page.clientWidth;
  }

  get isOutgrown() {
    return this.page.clientWidth !== this.width;
  }

  cancel() {
    this.isCancelled = true;
    this.#task?.cancel();
  }

  async show(source) {
    if (this.isCancelled) return;
    const plain = source.getViewport({ scale: 1 });
    const scale = this.width / plain.width;
    const maxScale = Math.sqrt(MAX_PIXELS / (plain.width * plain.height));
    const viewport = source.getViewport({ scale: Math.min(scale * devicePixelRatio, maxScale) });
    const canvas = blank(Math.floor(viewport.width), Math.floor(viewport.height));
    this.#task = source.render({ canvas, viewport });
    await this.#task.promise;
    if (this.isCancelled) return;
    const text = makeElement("div", { className: "words" });
    this.page.replaceChildren(canvas, text);
    this.page.style.setProperty("--total-scale-factor", scale);
    this.#task = new this.library.TextLayer({
      textContentSource: source.streamTextContent(),
      container: text,
      viewport: source.getViewport({ scale }),
    });
    await this.#task.render();
    source.cleanup();
  }
}
