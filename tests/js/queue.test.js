import assert from "node:assert/strict";
import { test } from "node:test";
import { Queue } from "../../static/js/music/queue.js";

const track = (name) => ({ url: `/${name}` });
const folder = () => ["a", "b", "c", "d"].map(track);
const namesOf = (queue) => queue.order.map((index) => queue.tracks[index].url);

test("a queue ends at its last track, unless it repeats", () => {
  const queue = new Queue(folder(), "");
  assert.equal(queue.step(3, false), true);
  assert.equal(queue.has(1, false), false);
  assert.equal(queue.step(1, false), false);
  assert.equal(queue.current.url, "/d");
  assert.equal(queue.step(1, true), true);
  assert.equal(queue.current.url, "/a");
  assert.equal(queue.step(-1, true), true);
  assert.equal(queue.current.url, "/d");
});

test("a folder's tracks come around the one that plays, which keeps its tags", () => {
  const playing = { ...track("c"), tags: { title: "Tide" } };
  const queue = new Queue([playing], "/list");
  queue.complete(folder());
  assert.equal(queue.current, playing);
  assert.deepEqual(namesOf(queue), ["/a", "/b", "/c", "/d"]);
  assert.equal(queue.url, "");
});

test("a track gets the cover that its folder has by now, and keeps its own", () => {
  for (const [own, cover] of [
    ["", "/folder.jpg"],
    ["/own.jpg", "/own.jpg"],
  ]) {
    const queue = new Queue([{ ...track("c"), cover: own }], "/list");
    queue.complete(folder().map((each) => ({ ...each, cover: "/folder.jpg" })));
    assert.equal(queue.current.cover, cover);
  }
});

test("a folder that lacks the track that plays changes nothing", () => {
  const queue = new Queue([track("z")], "/list");
  queue.complete(folder());
  assert.deepEqual(namesOf(queue), ["/z"]);
});

test("shuffling begins with the track that plays, and sorting returns to the folder's order", () => {
  const queue = new Queue(folder(), "", undefined, 2);
  queue.shuffle();
  assert.equal(queue.current.url, "/c");
  assert.equal(queue.at, 0);
  assert.deepEqual(namesOf(queue).sort(), ["/a", "/b", "/c", "/d"]);
  queue.step(1, false);
  const { url } = queue.current;
  queue.sort();
  assert.equal(queue.current.url, url);
  assert.deepEqual(namesOf(queue), ["/a", "/b", "/c", "/d"]);
});
