// How fast something moves, and how long it still takes.
const SHOWN_MS = 8000;
const MEMORY_MS = 30_000;
const LEAST_MS = 10_000;
const STEADY_PART = 0.25;

export class Pace {
  #marks;
  #end = 0;

  constructor(begun, sent = 0) {
    this.#marks = [{ at: begun, sent }];
    this.begun = begun;
  }

  add(at, sent) {
    this.#marks.push({ at, sent });
    while (this.#marks.length > 2 && at - this.#marks[0].at > MEMORY_MS) this.#marks.shift();
  }

  // Bytes a second, of the last few seconds.
  get rate() {
    const last = this.#marks.at(-1);
    return between(
      this.#marks.find(({ at }) => last.at - at <= SHOWN_MS),
      last,
    );
  }

  // The estimate before stands until it is well off, so that the time left counts down instead of
  // jumping. Seconds, or null while nobody can know.
  left(now, size) {
    const last = this.#marks.at(-1);
    const rate = between(this.#marks[0], last);
    if (now - this.begun < LEAST_MS || !rate) return null;
    const milliseconds = ((size - last.sent) / rate) * 1000;
    const isClose = this.#end >= now && Math.abs(now + milliseconds - this.#end) <= STEADY_PART * milliseconds;
    if (!isClose) this.#end = now + milliseconds;
    return (this.#end - now) / 1000;
  }
}

const between = (first, last) => (last.at > first.at ? ((last.sent - first.sent) / (last.at - first.at)) * 1000 : 0);
