import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Turns } from "../../static/js/files/turns.js";

let now = 0;
mock.method(performance, "now", () => now);

class FakeUpload {
  state = "queued";
  sent = 0;

  constructor(file, url, onChange) {
    Object.assign(this, { file, url, onChange });
  }

  start() {
    this.state = "uploading";
  }

  stop() {
    this.state = "stopped";
  }

  send(bytes) {
    this.sent += bytes;
    this.noteSent(bytes);
  }

  to(state) {
    this.state = state;
    if (state !== "moving") this.onChange(this);
  }
}

// A queue of files a, b, …, and what it told.
function queueOf(names, announce = () => false) {
  const made = {};
  const told = [];
  const make = (file, url, onChange) => {
    made[file] = new FakeUpload(file, url, onChange);
    return made[file];
  };
  const queue = new Turns({ make, announce, finish: (count) => told.push(count) });
  queue.add([...names].map((file) => ({ file, url: "/upload/" })));
  return { queue, made, told };
}

const SIGNS = { queued: "", uploading: "+", moving: ">", failed: "!" };
const stateOf = ({ uploads }) => uploads.map(({ file, state }) => file + SIGNS[state]).join(" ");

// Acts: a letter with the next state of its upload, "x" to cancel one, or "new" for another file.
const STATES = { "=": "done", "!": "failed", ">": "moving", "?": "queued" };
const TURNS = {
  "three files are sent at once, in the order in which they came": ["", "a+ b+ c+ d e"],
  "a file that arrives passes its turn to the next, and leaves": ["b=", "a+ c+ d+ e"],
  "files may arrive in any order": ["c= a= e= b=", "d+"],
  "a file that was sent keeps its turn until it has arrived": ["a> b=", "a> c+ d+ e"],
  "a file that fails passes its turn, and stays": ["a!", "a! b+ c+ d+ e"],
  "all fail, one after the other": ["a! b! c! d! e!", "a! b! c! d! e!"],
  "a file that is retried waits for its turn": ["a! a?", "a b+ c+ d+ e"],
  "a file that is retried goes before those that came later": ["a! a? b=", "a+ c+ d+ e"],
  "a file that is canceled passes its turn": ["xb", "a+ c+ d+ e"],
  "a file that is canceled while it waits gives no turn": ["xe", "a+ b+ c+ d"],
  "a failed file that is canceled gives no second turn": ["a! xa", "b+ c+ d+ e"],
  "a file that comes later waits at the end": ["new", "a+ b+ c+ d e f"],
  "a file that comes when nothing is left is sent at once": ["a= b= c= d= e= new", "f+"],
  "all are canceled": ["xabcde", ""],
  "all are canceled, some of which failed or were sent": ["a! b> xabcde", ""],
};

for (const [name, [acts, expected]] of Object.entries(TURNS)) {
  test(`turns: ${name}`, () => {
    const { queue, made } = queueOf("abcde");
    for (const act of acts.split(" ").filter(Boolean)) {
      if (act === "new") queue.add([{ file: "f", url: "/upload/" }]);
      else if (act[0] === "x") queue.cancel([...act.slice(1)].map((file) => made[file]).filter(Boolean));
      else made[act[0]].to(STATES[act[1]]);
    }
    assert.equal(stateOf(queue), expected);
    assert.equal(queue.isActive, /[a-f](?:[+>]| |$)/.test(expected));
  });
}

const ENDS = {
  "files are counted once all have arrived": ["a= b=", [2]],
  "files that failed aren't counted": ["a! b=", [1]],
  "nothing is said if none arrived": ["a! b!", []],
  "a retried file is counted on its own": ["a! b= a? a=", [1, 1]],
  "nothing is said while one is left": ["a=", []],
  "nothing is said while one was sent, but hasn't arrived": ["b> a=", []],
  "files are counted if the last one is canceled": ["a= xb", [1]],
  "nothing is said if all are canceled": ["xa xb", []],
  "files aren't counted twice if a failed one is canceled later": ["a= b! xb", [1]],
};

for (const [name, [acts, counts]] of Object.entries(ENDS)) {
  test(`arrivals: ${name}`, () => {
    const { queue, made, told } = queueOf("ab");
    for (const act of acts.split(" ")) {
      if (act[0] === "x") queue.cancel([made[act[1]]]);
      else made[act[0]].to(STATES[act[1]]);
    }
    assert.deepEqual(told, counts);
  });
}

test("arrivals: files with their own message aren't counted", () => {
  const { queue, made, told } = queueOf("ab", ({ file }) => file === "a");
  made.a.to("done");
  made.b.to("done");
  assert.deepEqual(told, [1]);
  assert.equal(queue.arrived, 0);
});

test("canceling stops each upload", () => {
  const { queue, made } = queueOf("ab");
  queue.cancel([made.b]);
  assert.deepEqual([made.a.state, made.b.state], ["uploading", "stopped"]);
});

// Files of 1 MB.
function setOf(...names) {
  now = 0;
  const uploads = [];
  const make = (file, url, onChange) => {
    uploads.push(new FakeUpload(file, url, onChange));
    return uploads.at(-1);
  };
  const queue = new Turns({ make, announce: () => false, finish: () => {} });
  const add = (...more) => queue.add(more.map((name) => ({ file: { name, size: 1_000_000 }, url: "/upload/" })));
  add(...names);
  return { queue, uploads, add };
}

function sendForTenSeconds(upload, bytesPerSecond) {
  for (now = 1000; now <= 10_000; now += 1000) upload.send(bytesPerSecond);
}

const sumsOf = ({ sums: { done, total, doneBytes, totalBytes } }) => [done, total, doneBytes / 1e6, totalBytes / 1e6];

test("sums: files and bytes of a set count what has arrived, what is being sent, and what waits", () => {
  const { queue, uploads, add } = setOf("a", "b", "c", "d");
  assert.deepEqual(sumsOf(queue), [0, 4, 0, 4]);
  uploads[0].send(1_000_000);
  uploads[0].to("done");
  uploads[1].send(500_000);
  assert.deepEqual(sumsOf(queue), [1, 4, 1.5, 4]);
  add("e");
  assert.deepEqual(sumsOf(queue), [1, 5, 1.5, 5]);
  queue.cancel([uploads[4]]);
  assert.deepEqual(sumsOf(queue), [1, 4, 1.5, 4]);
});

test("sums: what a failed file had sent doesn't count", () => {
  const { queue, uploads } = setOf("a", "b");
  uploads[0].send(500_000);
  uploads[0].to("failed");
  assert.deepEqual(sumsOf(queue), [0, 2, 0, 2]);
});

test("sums: a set that begins when nothing is in progress starts at zero, beside files that failed", () => {
  const { queue, uploads, add } = setOf("a", "b");
  uploads[0].to("failed");
  uploads[1].to("done");
  assert.deepEqual(sumsOf(queue), [1, 2, 1, 2]);
  add("c");
  assert.deepEqual(sumsOf(queue), [0, 2, 0, 2]);
});

test("sums: the time left is that of the whole set, also of files that wait", () => {
  const { queue, uploads } = setOf("a", "b", "c", "d", "e");
  sendForTenSeconds(uploads[0], 100_000);
  assert.equal(Math.round(queue.sums.seconds), 40);
});

test("sums: what the server had before doesn't count as speed", () => {
  const { queue, uploads } = setOf("a", "b");
  uploads[0].sent = 900_000;
  sendForTenSeconds(uploads[1], 50_000);
  assert.equal(Math.round(queue.sums.seconds), 12);
});

test("sums: no time is left, or known, while nothing moves", () => {
  const { queue, uploads } = setOf("a");
  sendForTenSeconds(uploads[0], 10_000);
  assert.notEqual(queue.sums.seconds, null);
  uploads[0].isCut = true;
  assert.equal(queue.sums.seconds, null);
  uploads[0].to("failed");
  assert.equal(queue.sums.seconds, null);
});
