import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const WORDS = {
  shell: { list: "{first}, {next}" },
  add: {
    added: "{count} added",
    known: "{count} already here",
    failed: "{count} not added",
    cut: "cut",
    strange: "strange",
  },
};
const parts = {
  words: { textContent: JSON.stringify(WORDS) },
  sending: { dataset: { url: "/transfers/send/" } },
};
globalThis.document = {
  documentElement: { lang: "en" },
  body: { getAttribute: () => "{}" },
  getElementById: (id) => parts[id],
};
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { onLine: true } });

const { Outcomes } = await import("../../static/js/add/outcomes.js");
const { send } = await import("../../static/js/add/sender.js");

const links = (count) => Array.from({ length: count }, (_, number) => `magnet:${number}`);
const answer = (body) => new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json" } });
const added = (lines, more = {}) => ({
  items: lines.map((line) => ({ line, outcome: "added" })),
  kept: [],
  left: [],
  ...more,
});

let batches;

// The server that adds what it gets, unless a test says otherwise.
function serve(respond = (lines) => added(lines)) {
  batches = [];
  globalThis.fetch = async (_url, { body }) => {
    const lines = body.get("text").split("\n");
    batches.push(lines);
    return answer(respond(lines, batches.length));
  };
}

const ignore = { folder: "0", onAnswer: () => {} };

beforeEach(() => serve());

test("lines are sent twenty-five at a time, in order", async () => {
  const lines = links(60);
  const left = [];
  const result = await send(lines, { folder: "0", onAnswer: (_answer, count) => left.push(count) });
  assert.deepEqual(
    batches.map((batch) => batch.length),
    [25, 25, 10],
  );
  assert.deepEqual(batches.flat(), lines);
  assert.deepEqual(left, [35, 10, 0]);
  assert.deepEqual(result, { keptLines: [], trouble: "" });
});

test("long lines are sent in smaller batches of at least one", async () => {
  const lines = ["a".repeat(400_000), "b".repeat(200_000), "c".repeat(200_000), "d"];
  await send(lines, ignore);
  assert.deepEqual(batches, [[lines[0]], [lines[1]], [lines[2], lines[3]]]);
});

test("lines that the server had no time for are sent again, and refused lines stay", async () => {
  serve((lines, turn) => added(lines.slice(0, 1), turn === 1 ? { kept: [lines[1]], left: lines.slice(2) } : {}));
  const result = await send(["a", "b", "c"], ignore);
  assert.deepEqual(batches, [["a", "b", "c"], ["c"]]);
  assert.deepEqual(result, { keptLines: ["b"], trouble: "" });
});

test("a failure ends sending, and lines that weren't sent stay", async () => {
  serve((lines, turn) => added(lines, turn === 2 ? { trouble: "full", kept: lines } : {}));
  const lines = links(60);
  assert.deepEqual(await send(lines, ignore), { keptLines: lines.slice(25), trouble: "full" });
});

test("a lost connection keeps the lines of its request too", async () => {
  globalThis.fetch = async () => {
    throw new TypeError("Failed to fetch");
  };
  assert.deepEqual(await send(["a", "b"], ignore), { keptLines: ["a", "b"], trouble: "cut" });
});

test("an empty response doesn't count as success", async () => {
  serve(() => ({ items: [] }));
  assert.deepEqual(await send(["a"], ignore), { keptLines: ["a"], trouble: "strange" });
});

test("outcomes are summed up by kind, and every failure counts as one", () => {
  const outcomes = new Outcomes();
  for (const outcome of ["added", "added", "known", "refused", "no_room", "unsure"]) outcomes.count({ outcome });
  assert.equal(String(outcomes), "2 added, 1 already here, 3 not added");
  assert.equal(outcomes.total, 6);
});
