// Count the outcomes of sent items, and summarize them in one line.
import { fill, listOf, words } from "../words.js";

export class Outcomes {
  added = 0;
  known = 0;
  failed = 0;

  count({ outcome }) {
    this[kindOf(outcome)] += 1;
  }

  get total() {
    return this.added + this.known + this.failed;
  }

  toString() {
    const kinds = ["added", "known", "failed"].filter((kind) => this[kind]);
    return listOf(kinds.map((kind) => fill(words.add[kind], { count: this[kind] })));
  }
}

// The server distinguishes several failures: refused, no_room, unreadable, and unsure.
export const kindOf = (outcome) => (outcome === "added" || outcome === "known" ? outcome : "failed");
