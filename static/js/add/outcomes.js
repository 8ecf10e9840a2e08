// Count the outcomes of sent items, and say what comes of them.
import { formatSize } from "../sizes.js";
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

  // Only if everything was added may the window close, so that the user can read any other outcome.
  end(trouble, left) {
    const { added, known, failed } = this;
    const isDone = !failed && !trouble && !left;
    const title = isDone ? words.ask[added ? "done" : "here"] : added || known ? words.ask.partly : "";
    return { isDone, mayClose: isDone && !known, title };
  }

  toString() {
    const kinds = ["added", "known", "failed"].filter((kind) => this[kind]);
    return listOf(kinds.map((kind) => fill(words.add[kind], { count: this[kind] })));
  }
}

// Return the texts of a list with `count` items, of which `chosen` are ticked. `free` is a sentence, if any.
export function textsFor({ count, chosen, bytes, free = "" }) {
  const { none, some, all, button, sentences } = words.ask;
  const size = bytes ? fill(words.ask.size, { size: formatSize(bytes) }) : "";
  return {
    title: !count ? none : chosen < count && count > 1 ? fill(some, { chosen, total: count }) : fill(all, { count }),
    button: fill(button, { count: chosen }),
    hint: size && free ? fill(sentences, { first: size, next: free }) : size || free,
  };
}

// The server distinguishes several failures: refused, no_room, unreadable, and unsure.
export const kindOf = (outcome) => (outcome === "added" || outcome === "known" ? outcome : "failed");
