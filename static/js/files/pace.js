// The rate of an upload, and the time left.
const RATE_MS = 8000;
const MEMORY_MS = 30_000;
const LEAST_MS = 10_000;
const STEADY_PART = 0.25;

export class Pace {
  #marks;
  #end = 0;

  constructor(start, sent = 0) {
    this.#marks = [{ at: start, sent }];
    this.start = start;
  }

  add(at, sent) {
    this.#marks.push({ at, sent });
    while (this.#marks.length > 2 && at - this.#marks[0].at > MEMORY_MS) this.#marks.shift();
  }

  // Bytes per second, over the last few seconds.
  get rate() {
    const last = this.#marks.at(-1);
    const first = this.#marks.find(({ at }) => last.at - at <= RATE_MS);
    return between(first, last);
  }

  // Return the seconds left, or null if it's too early to tell. The previous estimate is kept until it's
  // well off, so that the time left counts down instead of jumping.
  left(now, size) {
    const last = this.#marks.at(-1);
    const rate = between(this.#marks[0], last);
    if (now - this.start < LEAST_MS || !rate) return null;
    const milliseconds = ((size - last.sent) / rate) * 1000;
    const isClose = this.#end >= now && Math.abs(now + milliseconds - this.#end) <= STEADY_PART * milliseconds;
    if (!isClose) this.#end = now + milliseconds;
    return (this.#end - now) / 1000;
  }
}

const between = (first, last) => (last.at > first.at ? ((last.sent - first.sent) / (last.at - first.at)) * 1000 : 0);
