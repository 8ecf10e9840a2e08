// Thumbnails for the time bubble, captured as the film plays. Fetching others would cost a megabyte
// each, or make the service encode them.
const COUNT = 200;
const COLUMNS = 20;
const MAX_WIDTH = 160;
const MAX_HEIGHT = 90;

export class Frames {
  #filledSlots = new Set();
  #all = document.createElement("canvas").getContext("2d");

  constructor(video, signal) {
    this.video = video;
    video.addEventListener("loadedmetadata", () => this.#begin(), { signal });
    for (const name of ["timeupdate", "seeked"]) video.addEventListener(name, () => this.#capture(), { signal });
  }

  // Draw the picture for a time. Return whether there is one.
  draw(canvas, at) {
    const slot = this.#slot(at);
    if (!this.#filledSlots.has(slot)) return false;
    const { width, height } = this;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    canvas.getContext("2d").drawImage(this.#all.canvas, ...this.#place(slot), width, height, 0, 0, width, height);
    return true;
  }

  #begin() {
    const { videoWidth, videoHeight } = this.video;
    const scale = Math.min(MAX_WIDTH / videoWidth, MAX_HEIGHT / videoHeight);
    this.width = Math.round(videoWidth * scale);
    this.height = Math.round(videoHeight * scale);
    Object.assign(this.#all.canvas, { width: this.width * COLUMNS, height: (this.height * COUNT) / COLUMNS });
    this.#filledSlots.clear();
  }

  #capture() {
    const { currentTime, readyState, seeking, videoWidth } = this.video;
    const slot = this.#slot(currentTime);
    if (
      slot < 0 ||
      seeking ||
      readyState < HTMLMediaElement.HAVE_CURRENT_DATA ||
      !videoWidth ||
      this.#filledSlots.has(slot)
    )
      return;
    this.#all.drawImage(this.video, ...this.#place(slot), this.width, this.height);
    this.#filledSlots.add(slot);
  }

  #slot(at) {
    const { duration } = this.video;
    return Number.isFinite(duration) ? Math.min(Math.floor((at / duration) * COUNT), COUNT - 1) : -1;
  }

  /** @returns {[number, number]} */
  #place(slot) {
    return [(slot % COLUMNS) * this.width, Math.floor(slot / COLUMNS) * this.height];
  }
}
