// The order in which tracks play. It begins with one track; `url` lists the tracks of its folder.
export class Queue {
  constructor(tracks, url, order = tracks.keys(), at = 0) {
    this.tracks = tracks;
    this.url = url;
    this.order = [...order];
    this.at = at;
  }

  get current() {
    return this.tracks[this.order[this.at]];
  }

  // Use all tracks of the folder. The current track keeps its tags, and gets a cover that is new.
  complete(tracks) {
    const now = this.current;
    const at = tracks.findIndex(({ url }) => url === now.url);
    this.url = "";
    if (at < 0) return;
    now.cover ||= tracks[at].cover;
    tracks[at] = now;
    this.tracks = tracks;
    this.order = [...tracks.keys()];
    this.at = at;
  }

  // Put the current track first, and shuffle all others after it.
  shuffle() {
    const now = this.order[this.at];
    const others = this.order.filter((index) => index !== now);
    const chances = this.tracks.map(() => Math.random());
    this.order = [now, ...others.sort((one, other) => chances[one] - chances[other])];
    this.at = 0;
  }

  sort() {
    this.at = this.order[this.at];
    this.order = [...this.tracks.keys()];
  }

  // Return whether there was a track to go to.
  step(by, isRound) {
    const next = this.at + by;
    if (next in this.order) this.at = next;
    else if (isRound) this.at = (next + this.order.length) % this.order.length;
    else return false;
    return true;
  }

  has(by, isRound) {
    return isRound || this.at + by in this.order;
  }
}
