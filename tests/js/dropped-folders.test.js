import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const WORDS = { upload: { nodirs: "no folders here", strange: "strange" } };
globalThis.document = {
  documentElement: { lang: "en" },
  body: { getAttribute: () => "{}" },
  getElementById: () => ({ textContent: JSON.stringify(WORDS) }),
};

const { countFolders, filesOf } = await import("../../static/js/files/dropped-folders.js");

// Entries as browsers give them: a folder tells its contents in parts.
const file = (name) => ({ name, isFile: true, isDirectory: false, file: (resolve) => resolve({ name }) });
function folder(name, ...contents) {
  const createReader = () => {
    const left = [...contents];
    return { readEntries: (resolve) => resolve(left.splice(0, 1)) };
  };
  return { name, isFile: false, isDirectory: true, createReader };
}

const HERE = { url: "/0/upload/", new: "/0/new/", here: "" };
const targetsOf = ({ files }) => files.map(({ file: { name }, url }) => `${url}${name}`);
let made;

beforeEach(() => {
  made = [];
  globalThis.fetch = async (url, { body }) => {
    const name = body.get("name");
    made.push(`${url}${name}`);
    const path = `${url.replace("new/", "")}${name}/`;
    const isRefused = name === "refused";
    const answer = isRefused
      ? { ok: false, reason: "no room" }
      : { ok: true, upload_url: `${path}upload/`, new_url: `${path}new/` };
    return new Response(JSON.stringify(answer));
  };
});

test("files alone go to the open folder", async () => {
  const dropped = { entries: [file("a")], files: [{ name: "a" }] };
  assert.deepEqual(targetsOf(await filesOf(dropped, HERE)), ["/0/upload/a"]);
  assert.deepEqual(made, []);
});

test("a folder is made before those inside it, and each file goes to its own", async () => {
  const entries = [folder("Films", file("a"), folder("Old", file("b"), file("c"))), file("d")];
  const found = await filesOf({ entries, files: [] }, HERE);
  assert.deepEqual(made, ["/0/new/Films", "/0/Films/new/Old"]);
  assert.deepEqual(targetsOf(found), [
    "/0/Films/upload/a",
    "/0/Films/Old/upload/b",
    "/0/Films/Old/upload/c",
    "/0/upload/d",
  ]);
  assert.equal(found.trouble, undefined);
});

// Files as a browser gives them when a folder is chosen.
const picked = (path) => ({ name: path.split("/").at(-1), webkitRelativePath: path });

test("a chosen folder is made with its subfolders, each once, and each file goes to its own", async () => {
  const files = ["Films/a", "Films/Old/1999/b", "Films/Old/c", "Films/d"].map(picked);
  const found = await filesOf({ entries: [], files }, HERE);
  assert.deepEqual(made, ["/0/new/Films", "/0/Films/new/Old", "/0/Films/Old/new/1999"]);
  assert.deepEqual(targetsOf(found), [
    "/0/Films/upload/a",
    "/0/Films/Old/1999/upload/b",
    "/0/Films/Old/upload/c",
    "/0/Films/upload/d",
  ]);
  assert.equal(found.trouble, undefined);
});

test("an empty folder that is dropped is made, too", async () => {
  await filesOf({ entries: [folder("Films", folder("Old"))], files: [] }, HERE);
  assert.deepEqual(made, ["/0/new/Films", "/0/Films/new/Old"]);
});

test("folders are counted, but not those inside them", () => {
  const six = [..."abcdef"].map((name) => folder(name, folder("inside")));
  assert.equal(countFolders({ entries: [...six, file("g")], files: [{ name: "a" }] }), 6);
  assert.equal(countFolders({ entries: [], files: ["Films/a", "Films/Old/b"].map(picked) }), 1);
  assert.equal(countFolders({ entries: [file("a")], files: [{ name: "a", webkitRelativePath: "" }] }), 0);
});

test("if a folder can't be created, the files beside it are still sent", async () => {
  const dropped = { entries: [folder("Films", file("a")), file("b")], files: [] };
  const found = await filesOf(dropped, { url: "/0/upload/" });
  assert.deepEqual(targetsOf(found), ["/0/upload/b"]);
  assert.equal(found.trouble, "no folders here");
});

test("a refusal says why, and keeps the files before it", async () => {
  const found = await filesOf({ entries: [file("a"), folder("refused", file("b")), file("c")], files: [] }, HERE);
  assert.deepEqual(targetsOf(found), ["/0/upload/a"]);
  assert.equal(found.trouble, "no room");
});

test("a malformed response counts as a failure, too", async () => {
  globalThis.fetch = async () => new Response("<h1>Proxy</h1>");
  const found = await filesOf({ entries: [folder("Films", file("a"))], files: [] }, HERE);
  assert.equal(found.trouble, "strange");
});
