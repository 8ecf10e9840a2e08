// Thumbnails for the time bubble: captured as the film plays, or, for what it hasn't shown yet, from a
// filmstrip that the service has made. Fetching others would cost a megabyte each.

const COUNT = 200;
const COLUMNS = 20;
const MAX_WIDTH = 160;
const MAX_HEIGHT = 90;

export class Frames {
  #filledSlots = new Set();
  #strip = null;
  #all = document.createElement("canvas").getContext("2d");

  constructor(video, on) {
    this.video = video;
    on(video, "loadedmetadata", () => this.#begin());
    on(video, "timeupdate seeked", () => this.#capture());
  }

  // Draw the picture for a time. Return whether there is one.
  draw(canvas, at) {
    const slot = this.#slot(at);
    if (slot < 0) return false;
    if (this.#filledSlots.has(slot)) {
      drawPart(canvas, this.#all.canvas, [...this.#place(slot), this.width, this.height]);
    } else if (this.#strip) {
      drawPart(canvas, this.#strip.picture, partOf(this.#strip, at / this.video.duration));
    } else return false;
    return true;
  }

  // Without it, there are only the captured pictures.
  async useFilmstrip({ url, frames, columns }) {
    const picture = Object.assign(new Image(), { src: url });
    await picture.decode();
    const { naturalWidth: width, naturalHeight: height } = picture;
    this.#strip = { picture, frames, columns, width, height };
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
    const hasPicture = videoWidth && !seeking && readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
    if (slot < 0 || !hasPicture || this.#filledSlots.has(slot)) return;
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

// Return the part of a filmstrip that shows what is at a share of the film.
/** @returns {[number, number, number, number]} */
export function partOf({ frames, columns, width, height }, share) {
  const number = Math.min(Math.max(Math.floor(share * frames), 0), frames - 1);
  const [wide, high] = [width / columns, height / Math.ceil(frames / columns)];
  return [(number % columns) * wide, Math.floor(number / columns) * high, wide, high];
}

function drawPart(canvas, picture, [x, y, width, height]) {
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  canvas.getContext("2d").drawImage(picture, x, y, width, height, 0, 0, width, height);
}
