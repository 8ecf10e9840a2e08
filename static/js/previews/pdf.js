// The pages of a document, drawn as they come near. The library is loaded with the first document.

import { onDemand } from "../on-demand.js";
import { fill, words } from "../words.js";

const NEAR = "100% 0px";
const MOST_PIXELS = 2 ** 23;
const MOST_PIXELS_OF_A_PICTURE = 2 ** 26;
const CHUNK_BYTES = 2 ** 18;
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const REDRAW_MS = 150;

export function mount(viewer, signal) {
  const body = viewer.querySelector(".document");
  open(viewer, body, signal).catch((error) => {
    if (!signal.aborted) explain(body, error.name === "PasswordException" ? "locked" : "broken");
  });
}

function explain(body, reason) {
  body.querySelector(".fallback p").textContent = words.previews[reason];
  body.classList.remove("opening");
}

async function open(viewer, body, signal) {
  const { library: address, worker, document: url } = body.dataset;
  body.classList.add("opening");
  const library = await onDemand(() => import(address));
  if (!library) return body.classList.remove("opening");
  const besides = (name) => new URL(`${name}/`, new URL(address, location.href)).href;
  library.GlobalWorkerOptions.workerSrc = worker;
  const task = library.getDocument({
    url,
    wasmUrl: besides("."),
    cMapUrl: besides("cmaps"),
    standardFontDataUrl: besides("standard_fonts"),
    rangeChunkSize: CHUNK_BYTES,
    disableAutoFetch: true,
    disableStream: true,
    enableXfa: false,
    isEvalSupported: false,
    maxImageSize: MOST_PIXELS_OF_A_PICTURE,
    verbosity: library.VerbosityLevel.ERRORS,
  });
  signal.addEventListener("abort", () => task.destroy());
  const found = await task.promise;
  const first = await found.getPage(1);
  if (signal.aborted) return;
  body.classList.remove("opening");
  new Pages(library, found, viewer, signal).show(first.getViewport({ scale: 1 }));
}

class Pages {
  #zoom = ZOOMS.indexOf(1);
  #drawn = new Map();
  #near = new Set();
  #redrawing = 0;

  constructor(library, found, viewer, signal) {
    this.library = library;
    this.found = found;
    this.signal = signal;
    this.body = viewer.querySelector(".document");
    this.list = viewer.querySelector(".pages");
    this.bar = viewer.querySelector(".document-bar");
    this.observer = new IntersectionObserver((entries) => this.#follow(entries), { root: this.body, rootMargin: NEAR });
    this.resizing = new ResizeObserver(() => this.#redrawSoon());
    signal.addEventListener("abort", () => this.#leave());
  }

  show({ width, height }) {
    this.body.querySelector(".fallback").hidden = true;
    this.list.hidden = this.bar.hidden = false;
    const count = this.found.numPages;
    for (let number = 1; number <= this.found.numPages; number += 1) {
      const page = document.createElement("section");
      page.dataset.number = String(number);
      page.setAttribute("aria-label", fill(words.previews.page, { number, count }));
      page.append(blank(width, height));
      this.list.append(page);
      this.observer.observe(page);
    }
    const { signal } = this;
    this.resizing.observe(this.list);
    this.body.addEventListener("scroll", () => this.#count(), { passive: true, signal });
    this.bar.addEventListener("click", ({ target }) => this.#turn(target.closest("[data-zoom]")?.dataset.zoom), {
      signal,
    });
    this.#count();
  }

  #leave() {
    clearTimeout(this.#redrawing);
    this.observer.disconnect();
    this.resizing.disconnect();
    for (const page of [...this.#drawn.keys()]) this.#drop(page);
  }

  #follow(entries) {
    for (const { isIntersecting, target } of entries) {
      if (isIntersecting) {
        this.#near.add(target);
        this.#draw(target);
      } else {
        this.#near.delete(target);
        this.#drop(target);
      }
    }
  }

  // A page far away gives its memory back, which phones have little of.
  #drop(page) {
    this.#drawn.get(page)?.cancel();
    if (!this.#drawn.delete(page)) return;
    const { width, height } = page.querySelector("canvas");
    page.replaceChildren(blank(width, height));
  }

  async #draw(page) {
    if (this.#drawn.has(page)) return;
    const drawing = new Drawing(this.library, page);
    this.#drawn.set(page, drawing);
    try {
      await drawing.show(await this.found.getPage(Number(page.dataset.number)));
    } catch (error) {
      if (drawing.isCancelled || this.signal.aborted) return;
      console.warn(error);
      if (!page.querySelector(".words")) this.#excuse(page);
    }
  }

  // It keeps its place among the others.
  #excuse(page) {
    const { width, height } = page.querySelector("canvas");
    page.replaceChildren(blank(width, height), this.body.querySelector("template").content.cloneNode(true));
  }

  #redrawSoon() {
    clearTimeout(this.#redrawing);
    this.#redrawing = setTimeout(() => this.#redraw(), REDRAW_MS);
  }

  #redraw() {
    for (const [page, drawing] of [...this.#drawn])
      if (drawing.isOutgrown) this.#drawn.delete(page) && drawing.cancel();
    for (const page of this.#near) this.#draw(page);
  }

  // The size of a page comes with its style, which a script may set.
  #turn(way) {
    if (!way) return;
    const step = { in: 1, out: -1 }[way];
    this.#zoom = Math.min(Math.max(this.#zoom + step, 0), ZOOMS.length - 1);
    const { scrollTop, scrollHeight } = this.body;
    this.list.style.setProperty("--zoom", ZOOMS[this.#zoom]);
    this.body.scrollTop = (scrollTop / scrollHeight) * this.body.scrollHeight;
    for (const button of this.bar.querySelectorAll("[data-zoom]")) {
      button.setAttribute("aria-disabled", this.#zoom === { in: ZOOMS.length - 1, out: 0 }[button.dataset.zoom]);
    }
  }

  #count() {
    const { left, top, width, height } = this.body.getBoundingClientRect();
    const page = document
      .elementsFromPoint(left + width / 2, top + height / 2)
      .find((each) => each.matches(".pages > section"));
    if (page) this.bar.querySelector("output").textContent = page.getAttribute("aria-label");
  }
}

// A canvas of that shape, which takes no memory until something is drawn on it.
const blank = (width, height) => Object.assign(document.createElement("canvas"), { width, height });

// One page: its picture, and its words over it, to be read out, selected, and copied.
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
    const most = Math.sqrt(MOST_PIXELS / (plain.width * plain.height));
    const viewport = source.getViewport({ scale: Math.min(scale * devicePixelRatio, most) });
    const canvas = blank(Math.floor(viewport.width), Math.floor(viewport.height));
    this.#task = source.render({ canvas, viewport });
    await this.#task.promise;
    if (this.isCancelled) return;
    const words = document.createElement("div");
    words.className = "words";
    this.page.replaceChildren(canvas, words);
    this.page.style.setProperty("--total-scale-factor", scale);
    this.#task = new this.library.TextLayer({
      textContentSource: source.streamTextContent(),
      container: words,
      viewport: source.getViewport({ scale }),
    });
    await this.#task.render();
    source.cleanup();
  }
}
