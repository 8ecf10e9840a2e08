// The time left of a conversion, extrapolated from its pace while the user waits.

// With less progress than this, the pace would be a guess.
const MIN_SECONDS = 10;
const MIN_PERCENT = 1;

export class ConversionPace {
  #first = null; // the time and percentage when the user began to wait

  /**
   * Return null until the pace is known.
   * @param {number} now in milliseconds
   * @param {number} percent
   */
  secondsLeft(now, percent) {
    if (!this.#first || percent < this.#first.percent) this.#first = { now, percent };
    const elapsed = (now - this.#first.now) / 1000;
    const done = percent - this.#first.percent;
    return elapsed >= MIN_SECONDS && done >= MIN_PERCENT ? ((100 - percent) * elapsed) / done : null;
  }
}
