import assert from "node:assert/strict";
import { File } from "node:buffer";
import { beforeEach, mock, test } from "node:test";

const WORDS = {
  upload: {
    queued: "waiting",
    uploading: "going",
    moving: "ending",
    failed: "failed",
    resuming: "interrupted",
    cut: "cut",
    unsigned: "unsigned",
    large: "too large",
    strange: "strange",
    of: "{done} of {total}",
    left: "{time} left",
  },
  time: { seconds: "{seconds} s", minutes: "{minutes} min" },
};
const body = {
  text: "{}",
  getAttribute: () => body.text,
  setAttribute: (_name, text) => {
    body.text = text;
  },
};
globalThis.document = {
  documentElement: { lang: "en" },
  body,
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
};
globalThis.location = { href: "http://ferry/files/1/" };

let now = 0;
let timers = [];
let requests = [];
let remembered = {};
mock.method(performance, "now", () => now);
mock.method(globalThis, "setTimeout", (act, ms) => timers.push({ act, ms }));

class FakeRequest extends EventTarget {
  upload = new EventTarget();
  headers = {};
  isAborted = false;

  open(method, url) {
    Object.assign(this, { method, url: new URL(url, location.href) });
    requests.push(this);
  }

  setRequestHeader(name, value) {
    this.headers[name] = value;
  }

  send(content) {
    this.content = content;
  }

  abort() {
    this.isAborted = true;
    this.dispatchEvent(new Event("abort"));
  }

  cut() {
    this.dispatchEvent(new Event("error"));
  }

  progress(loaded, total) {
    this.upload.dispatchEvent(Object.assign(new Event("progress"), { loaded, total }));
  }

  answer(status, content = "", responseURL = this.url.href) {
    const response = typeof content === "string" ? null : content;
    Object.assign(this, { status, response, responseURL });
    this.upload.dispatchEvent(new Event("load"));
    this.dispatchEvent(new Event("load"));
  }
}
globalThis.XMLHttpRequest = FakeRequest;

const { uploadOf } = await import("../../static/js/files/resumable.js");
const { Upload } = await import("../../static/js/files/upload.js");

const settled = () => new Promise(setImmediate);
const last = () => requests.at(-1);

beforeEach(() => {
  [now, timers, requests, remembered, body.text] = [0, [], [], {}, '{"X-CSRFToken": "old"}'];
  globalThis.window = new EventTarget();
  globalThis.localStorage = {
    getItem: (key) => remembered[key] ?? null,
    setItem: (key, text) => {
      remembered[key] = text;
    },
  };
});

// Small files

let states;
function uploadFile(content = "hello") {
  states = [];
  const upload = new Upload(new File([content], "a.txt"), "/files/1/upload/", ({ state }) => states.push(state));
  upload.start();
  return upload;
}

test("a file is sent with its size and the token, and arrives", () => {
  const upload = uploadFile();
  assert.equal(last().method, "POST");
  assert.equal(last().url.pathname, "/files/1/upload/");
  assert.deepEqual(last().headers, { "X-CSRFToken": "old", "X-Requested-With": "ferry", "X-File-Size": "5" });
  assert.equal(last().content.get("file").name, "a.txt");
  last().answer(200, { ok: true, items: ["a"] });
  assert.deepEqual(states, ["done"]);
  assert.deepEqual(upload.answer.items, ["a"]);
});

const REFUSALS = {
  "Ferry's own reason is shown": [[413, { reason: "no room" }], "no room"],
  "a proxy's limit is explained": [[413, "<h1>Too large</h1>"], "too large"],
  "a session that ended is explained": [[401, ""], "unsigned"],
  "so is the page for signing in, which the browser followed": [
    [200, "<h1>Sign in</h1>", "http://ferry/signin/"],
    "unsigned",
  ],
  "so is that page with the status of a refusal": [[413, "", "http://ferry/signin/"], "unsigned"],
  "a proxy's page is strange": [[502, "<h1>Bad Gateway</h1>"], "strange"],
  "so is a success without an answer": [[200, ""], "strange"],
  "so is a refusal without a reason": [[403, {}], "strange"],
};

for (const [name, [answer, reason]] of Object.entries(REFUSALS)) {
  test(`a refused file: ${name}`, () => {
    const upload = uploadFile();
    last().answer(...answer);
    assert.deepEqual(states, ["failed"]);
    assert.equal(upload.texts.of, reason);
    assert.equal(requests.length, 1);
  });
}

test("a new token from a refusal is used at once, but only once", () => {
  const upload = uploadFile();
  last().answer(403, { token: "new" });
  assert.equal(requests.length, 2);
  assert.equal(last().headers["X-CSRFToken"], "new");
  last().answer(403, { token: "newer", reason: "refused" });
  assert.deepEqual([requests.length, states, upload.reason], [2, ["failed"], "refused"]);
});

// After a lost connection, a request without the file asks for the reason.
const CUTS = {
  "a refusal's reason is shown": [[413, { reason: "no room" }], "no room"],
  "a server that is starting says so": [[503, { reason: "starting" }], "starting"],
  "a session that ended without a page": [[403, {}], "strange"],
  "an answer that is no refusal doesn't count": [[400, { reason: "no file" }], "cut"],
  "success doesn't count, either, since the file wasn't sent": [[200, { ok: true }], "cut"],
};

for (const [name, [answer, reason]] of Object.entries(CUTS)) {
  test(`a lost connection: ${name}`, () => {
    const upload = uploadFile();
    last().cut();
    assert.equal([...last().content].length, 0);
    last().answer(...answer);
    assert.deepEqual([upload.state, upload.reason], ["failed", reason]);
  });
}

test("a lost connection: if there is no reason, either, the connection is to blame", () => {
  const upload = uploadFile();
  last().cut();
  last().cut();
  assert.deepEqual([requests.length, upload.reason], [2, "cut"]);
});

test("a lost connection: a new token sends the file again", () => {
  uploadFile();
  last().cut();
  last().answer(403, { token: "new" });
  assert.equal(last().content.get("file").name, "a.txt");
  last().answer(200, { ok: true });
  assert.deepEqual(states, ["done"]);
});

test("a canceled file is aborted, and late answers change nothing", () => {
  const upload = uploadFile();
  upload.stop();
  assert.equal(last().isAborted, true);
  last().answer(200, { ok: true });
  last().cut();
  last().cut();
  assert.deepEqual([upload.state, states], ["stopped", []]);
});

test("a retried file begins anew", () => {
  const upload = uploadFile();
  last().progress(3, 5);
  last().answer(502);
  upload.retry();
  assert.deepEqual([upload.state, upload.sent, states], ["queued", 0, ["failed", "queued"]]);
  upload.start();
  last().answer(403, { token: "new" });
  last().answer(200, { ok: true });
  assert.deepEqual(states, ["failed", "queued", "done"]);
});

test("a row shows what is done, the rate, and the time left once it is known", () => {
  const upload = uploadFile("x".repeat(2000));
  const at = (ms, loaded) => {
    now = ms;
    last().progress(loaded, 4000);
    return [upload.percent, ...Object.values(upload.texts)];
  };
  assert.deepEqual(at(0, 0), [0, "going", "0 bytes of 2 KB", "", ""]);
  assert.deepEqual(at(1000, 400), [10, "going", "200 bytes of 2 KB", "200 bytes/s", ""]);
  assert.deepEqual(at(5000, 1200), [30, "going", "600 bytes of 2 KB", "120 bytes/s", ""]);
  assert.deepEqual(at(10_000, 2000), [50, "going", "1 KB of 2 KB", "80 bytes/s", "10 s left"]);
  last().upload.dispatchEvent(new Event("load"));
  assert.deepEqual(Object.values(upload.texts), ["ending", "1 KB of 2 KB", "", ""]);
  last().answer(502);
  assert.deepEqual(Object.values(upload.texts), ["failed", "strange", "", ""]);
  upload.retry();
  assert.deepEqual(Object.values(upload.texts), ["waiting", "0 bytes of 2 KB", "", ""]);
});

test("a row is drawn four times a second at most, and at each change of state", () => {
  const upload = uploadFile();
  let drawn = 0;
  upload.show = () => {
    drawn += 1;
  };
  for (now = 1; now <= 1000; now += 1) last().progress(1, 5);
  assert.equal(drawn, 3);
  last().answer(200, { ok: true });
  assert.equal(drawn, 5);
});

test("an empty file has no part that is done", () => {
  const upload = uploadFile("");
  last().progress(0, 0);
  assert.deepEqual([upload.percent, upload.texts.of], [0, "0 bytes of 0 bytes"]);
});

// Large files

const SIZE = 8 * 2 ** 20;
const KEY = JSON.stringify(["/files/1/upload/", "Film, 电影.mkv", SIZE, 7]);
const uploadsNow = () => JSON.parse(remembered["ferry-uploads"] ?? "{}");

// The server that creates uploads, and knows how much of each it has, unless a test says otherwise.
let calls;
let offset;
let answers;
function serve(more = {}) {
  calls = [];
  answers = {
    POST: () => new Response(null, { status: 201, headers: { Location: "/files/uploads/new/" } }),
    HEAD: () => new Response(null, { headers: { "Upload-Offset": String(offset) } }),
    DELETE: () => new Response(null, { status: 204 }),
    ...more,
  };
  globalThis.fetch = async (url, { method, headers }) => {
    calls.push({ method, path: url.pathname, headers });
    return answers[method](calls.length);
  };
}

const NAMES = { POST: "create", HEAD: "look", DELETE: "remove" };
const called = () => calls.map(({ method }) => NAMES[method]).join(" ");
const offsets = () => requests.map(({ headers }) => headers["Upload-Offset"]).join(" ");

function remember() {
  const upload = { url: "/files/uploads/old/", at: 1 };
  remembered["ferry-uploads"] = JSON.stringify({ [KEY]: upload });
}

async function uploadFilm() {
  states = [];
  const film = { name: "Film, 电影.mkv", size: SIZE, lastModified: 7, slice: (from) => `from ${from}` };
  const upload = uploadOf(film, "/files/1/upload/", ({ state }) => states.push(state));
  upload.start();
  await settled();
  return upload;
}

async function cutAt(sent) {
  last().progress(sent - Number(last().headers["Upload-Offset"]), SIZE);
  offset = sent;
  last().cut();
  await settled();
}

async function answer(...facts) {
  last().answer(...facts);
  await settled();
}

async function wait() {
  timers.at(-1).act();
  await settled();
}

beforeEach(() => {
  offset = 0;
  serve();
});

test("files as large as photos are resumable", () => {
  const kindOf = (size) => uploadOf({ size }, "/", () => {}).constructor.name;
  assert.deepEqual([0, 256 * 2 ** 10 - 1, 256 * 2 ** 10].map(kindOf), ["Upload", "Upload", "ResumableUpload"]);
});

test("a large file is created, sent, and forgotten once it has arrived", async () => {
  await uploadFilm();
  const [{ headers, path }] = calls;
  const name = Buffer.from(headers["Upload-Metadata"].split(" ")[1], "base64").toString();
  assert.deepEqual([path, name, headers["Upload-Length"]], ["/files/1/uploads/", "Film, 电影.mkv", String(SIZE)]);
  assert.equal(uploadsNow()[KEY].url, "/files/uploads/new/");
  assert.deepEqual([last().method, last().url.pathname, last().content], ["PATCH", "/files/uploads/new/", "from 0"]);
  assert.equal(last().headers["Tus-Resumable"], "1.0.0");
  await answer(204);
  assert.deepEqual(states, ["done"]);
  assert.deepEqual(uploadsNow(), {});
});

test("a beginning on another machine is found at a later try", async () => {
  remember();
  const there = () => new Response(null, { headers: { "Upload-Offset": "5" } });
  serve({ HEAD: (count) => (count < 3 ? new Response(null, { status: 421 }) : there()) });
  await uploadFilm();
  await wait();
  await wait();
  assert.deepEqual([called(), offsets()], ["look look look", "5"]);
});

test("a file whose beginning no machine has is sent anew", async () => {
  remember();
  serve({ HEAD: () => new Response(null, { status: 421 }) });
  await uploadFilm();
  for (let time = 0; time < 12; time += 1) await wait();
  assert.deepEqual([called(), offsets()], [`${"look ".repeat(13)}create`, "0"]);
});

test("a file that another tab began continues where that left off", async () => {
  remember();
  offset = 5_000_000;
  const upload = await uploadFilm();
  assert.deepEqual([called(), calls[0].path, last().content], ["look", "/files/uploads/old/", "from 5000000"]);
  assert.equal(upload.percent, 59);
});

test("a file that the server has forgotten begins anew", async () => {
  remember();
  serve({ HEAD: () => new Response(null, { status: 404 }) });
  await uploadFilm();
  assert.deepEqual([called(), offsets()], ["look create", "0"]);
});

test("while a proxy stands in for Ferry, a file waits, and then continues", async () => {
  remember();
  offset = 1000;
  serve({ HEAD: (turn) => new Response(null, turn < 3 ? { status: 502 } : { headers: { "Upload-Offset": "1000" } }) });
  const upload = await uploadFilm();
  await wait();
  assert.deepEqual([upload.texts.state, called(), offsets()], ["interrupted", "look look", ""]);
  await wait();
  assert.deepEqual([upload.texts.state, called(), offsets()], ["going", "look look look", "1000"]);
});

test("after a lost connection, the rest is sent, and its rate counts only that", async () => {
  const upload = await uploadFilm();
  now = 20_000;
  await cutAt(4_000_000);
  assert.deepEqual(Object.values(upload.texts), ["interrupted", "4 MB of 8.4 MB", "", ""]);
  await wait();
  assert.deepEqual([called(), offsets(), upload.texts.state], ["create look", "0 4000000", "going"]);
  now = 21_000;
  last().progress(1000, SIZE);
  assert.equal(upload.texts.rate, "1 KB/s");
  await answer(204);
  assert.deepEqual(states, ["done"]);
});

test("it waits twice as long after each failure, up to 30 s, and less once something was sent", async () => {
  await uploadFilm();
  last().cut();
  await settled();
  answers.HEAD = () => Promise.reject(new TypeError("Failed to fetch"));
  for (let turn = 0; turn < 6; turn += 1) await wait();
  answers.HEAD = () => new Response(null, { headers: { "Upload-Offset": "0" } });
  await wait();
  await cutAt(1000);
  assert.deepEqual(
    timers.map(({ ms }) => ms / 1000),
    [1, 2, 4, 8, 16, 30, 30, 1],
  );
});

test("it tries at once when the browser is online again", async () => {
  await uploadFilm();
  await cutAt(1000);
  window.dispatchEvent(new Event("online"));
  await settled();
  assert.equal(offsets(), "0 1000");
});

const AGAIN = {
  "the server has more than we know": [409, { reason: "wrong offset" }],
  "a proxy answered": [502, "<h1>Bad Gateway</h1>"],
  "the server is starting": [503, ""],
};

for (const [name, [status, content]] of Object.entries(AGAIN)) {
  test(`a part that is refused is sent again: ${name}`, async () => {
    await uploadFilm();
    offset = 1000;
    await answer(status, content);
    await wait();
    assert.deepEqual([called(), offsets(), states], ["create look", "0 1000", []]);
  });
}

test("a part that is refused for an old token is sent again with the new one", async () => {
  await uploadFilm();
  await answer(403, { token: "new", reason: "refused" });
  await wait();
  assert.equal(last().headers["X-CSRFToken"], "new");
});

test("a part that Ferry refuses with a reason fails, and can be retried", async () => {
  const upload = await uploadFilm();
  await answer(413, { reason: "no room" });
  assert.deepEqual([states, upload.texts.of], [["failed"], "no room"]);
  upload.retry();
  offset = 1000;
  upload.start();
  await settled();
  assert.deepEqual([called(), offsets()], ["create look", "0 1000"]);
});

const elsewhere = () => Object.defineProperty(new Response("<h1>Sign in</h1>"), "redirected", { value: true });
const BEGINNINGS = {
  "a session that ended is explained": [() => new Response(null, { status: 401 }), "unsigned"],
  "so is the page for signing in": [elsewhere, "unsigned"],
  "Ferry's own reason is shown": [() => Response.json({ reason: "no room" }, { status: 413 }), "no room"],
  "even if it is busy": [() => Response.json({ reason: "busy" }, { status: 503 }), "busy"],
  "an answer without an address is strange": [() => new Response(null, { status: 201 }), "strange"],
};

for (const [name, [respond, reason]] of Object.entries(BEGINNINGS)) {
  test(`a large file that can't begin: ${name}`, async () => {
    serve({ POST: respond });
    const upload = await uploadFilm();
    assert.deepEqual([states, upload.reason, requests.length], [["failed"], reason, 0]);
  });
}

test("a large file that can't begin: behind a proxy without Ferry, it waits", async () => {
  serve({ POST: (turn) => (turn === 1 ? new Response("<h1>Bad Gateway</h1>", { status: 502 }) : null) });
  const upload = await uploadFilm();
  assert.deepEqual([states, upload.texts.state], [[], "interrupted"]);
});

test("a large file that can't begin: a new token is used at once, but only once", async () => {
  serve({ POST: () => Response.json({ token: `new ${calls.length}`, reason: "refused" }, { status: 403 }) });
  const upload = await uploadFilm();
  assert.deepEqual([called(), calls[1].headers["X-CSRFToken"]], ["create create", "new 1"]);
  assert.equal(upload.reason, "refused");
});

test("a session that ends during an interruption is explained, and no longer looks interrupted", async () => {
  const upload = await uploadFilm();
  await cutAt(1000);
  answers.HEAD = () => new Response(null, { status: 401 });
  await wait();
  assert.deepEqual(Object.values(upload.texts), ["failed", "unsigned", "", ""]);
});

test("a canceled large file is aborted, removed, and forgotten", async () => {
  const upload = await uploadFilm();
  upload.stop();
  await settled();
  assert.deepEqual([last().isAborted, called(), calls[1].path], [true, "create remove", "/files/uploads/new/"]);
  assert.deepEqual([uploadsNow(), states, timers.length], [{}, [], 0]);
});

test("a large file that is canceled during an interruption isn't sent again", async () => {
  const upload = await uploadFilm();
  await cutAt(1000);
  upload.stop();
  await wait();
  assert.deepEqual([called(), offsets(), upload.state], ["create remove", "0", "stopped"]);
});

test("a large file that is canceled while the server creates it is removed, and nothing is sent", async () => {
  let release;
  serve({
    POST: () =>
      new Promise((resolve) => {
        release = () => resolve(new Response(null, { status: 201, headers: { Location: "/files/uploads/new/" } }));
      }),
  });
  const upload = await uploadFilm();
  upload.stop();
  release();
  await settled();
  assert.deepEqual([called(), requests.length, states, uploadsNow()], ["create remove", 0, [], {}]);
});

test("the browser remembers the last two hundred uploads", async () => {
  const others = Array.from({ length: 200 }, (_, number) => [`file ${number}`, { url: "/" }]);
  remembered["ferry-uploads"] = JSON.stringify(Object.fromEntries(others));
  await uploadFilm();
  const keys = Object.keys(uploadsNow());
  assert.deepEqual([keys.length, keys[0], keys.at(-1)], [200, "file 1", KEY]);
});

test("without storage, a large file is sent, and begins anew after an interruption", async () => {
  globalThis.localStorage.setItem = () => {
    throw new Error("blocked");
  };
  await uploadFilm();
  await cutAt(1000);
  await wait();
  assert.deepEqual([called(), offsets()], ["create create", "0 0"]);
});
