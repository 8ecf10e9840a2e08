// A finger that rests on a row.
const HOLD_MS = 400;
const SLIP_PX = 10;

export class Hold {
  isDone = false; // until the click that follows, or the next touch
  #from = null;
  #timer = 0;

  get isActive() {
    return this.#from !== null || this.isDone;
  }

  start(point, act) {
    this.#from = point;
    this.#timer = setTimeout(() => {
      this.#from = null;
      this.isDone = true;
      act();
    }, HOLD_MS);
  }

  move({ clientX, clientY }) {
    if (this.#from && Math.hypot(clientX - this.#from.clientX, clientY - this.#from.clientY) > SLIP_PX) this.end();
  }

  end() {
    clearTimeout(this.#timer);
    this.#from = null;
  }
}
