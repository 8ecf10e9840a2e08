import assert from "node:assert/strict";
import { test } from "node:test";
import { cutKeys, dropAct, finishPaste, forgetPaste, isHere, paste, put } from "../../static/js/files/clipboard.js";

class FakeStorage {
  getItem(key) {
    return this[key] ?? null;
  }
  setItem(key, value) {
    this[key] = value;
  }
  removeItem(key) {
    delete this[key];
  }
}

const [HOME, AWAY] = ["/1/move/", "/2/move/"];
const ACTS = {
  cut: () => put({ act: "move", values: { entry: ["file-1"] }, from: HOME }),
  "cut another": () => put({ act: "move", values: { entry: ["file-2"] }, from: HOME }),
  copy: () => put({ act: "copy", values: { entry: ["file-1"] }, from: HOME }),
  paste: () => paste(AWAY),
  "paste at home": () => paste(HOME),
  // The server answers that the entries are placed, or the user closes its question about taken names, or
  // drops other entries on a folder.
  placed: finishPaste,
  cancel: forgetPaste,
  drop: forgetPaste,
};

// After these acts, what does a paste into another folder bring?
const SEQUENCES = {
  "nothing is pasted at first": [[], undefined],
  "cut entries can be pasted": [["cut"], "move file-1"],
  "copied entries can be pasted": [["copy"], "copy file-1"],
  "what was cut last counts": [["copy", "cut another"], "move file-2"],
  "cut entries are pasted once": [["cut", "paste", "placed"], undefined],
  "copied entries can be pasted again": [["copy", "paste", "placed"], "copy file-1"],
  "cut entries can be pasted again as long as there is no answer": [["cut", "paste"], "move file-1"],
  "a canceled question keeps cut entries": [["cut", "paste", "cancel"], "move file-1"],
  "after a canceled question, the next paste moves them": [["cut", "paste", "cancel", "paste", "placed"], undefined],
  "a drop that is done doesn't use up what was cut": [["cut", "drop", "placed"], "move file-1"],
  "a drop after a canceled paste doesn't, either": [["cut", "paste", "cancel", "drop", "placed"], "move file-1"],
  "a drop during a paste keeps what was cut": [["cut", "paste", "drop", "placed"], "move file-1"],
  "entries cut during a paste stay cut": [["cut", "paste", "cut another", "placed"], "move file-2"],
  "the same entries cut again during a paste were moved, too": [["cut", "paste", "cut", "placed"], undefined],
  "entries copied during a paste stay copied": [["cut", "paste", "copy", "placed"], "copy file-1"],
  "a copy pasted during a paste keeps what it copied": [["cut", "paste", "copy", "paste", "placed"], "copy file-1"],
  "pasting where they were cut uses nothing up": [["cut", "paste at home", "placed"], "move file-1"],
  "an answer without a paste uses nothing up": [["cut", "placed"], "move file-1"],
  "a second answer uses nothing up": [["cut", "paste", "placed", "cut another", "placed"], "move file-2"],
};

for (const [name, [acts, expected]] of Object.entries(SEQUENCES)) {
  test(`paste: ${name}`, () => {
    globalThis.sessionStorage = new FakeStorage();
    forgetPaste();
    for (const act of acts) ACTS[act]();
    const items = paste(AWAY);
    assert.equal(items ? `${items.act} ${items.values.entry}` : undefined, expected);
  });
}

const PLACES = {
  "cut entries look cut in their folder, and can't be pasted there": ["cut", HOME, ["file-1"], true],
  "elsewhere, they don't, and can": ["cut", AWAY, [], false],
  "copied entries don't look cut, and can be pasted in their folder": ["copy", HOME, [], false],
};

for (const [name, [act, folder, keys, isAtHome]] of Object.entries(PLACES)) {
  test(name, () => {
    globalThis.sessionStorage = new FakeStorage();
    ACTS[act]();
    assert.deepEqual(cutKeys(folder), keys);
    assert.equal(isHere(paste(folder), folder), isAtHome);
  });
}

test("if all rows were cut, or none, no row looks cut", () => {
  globalThis.sessionStorage = new FakeStorage();
  assert.deepEqual(cutKeys(HOME), []);
  put({ act: "move", values: { all: ["1"] }, from: HOME });
  assert.deepEqual(cutKeys(HOME), []);
});

test("without storage, nothing is pasted and nothing looks cut", () => {
  globalThis.sessionStorage = undefined;
  ACTS.cut();
  assert.equal(paste(AWAY), null);
  assert.deepEqual(cutKeys(HOME), []);
});

const DROPS = {
  "on a folder moves": [{}, "folder-9", "move"],
  "with Ctrl copies": [{ ctrlKey: true }, "folder-9", "copy"],
  "with Alt copies": [{ altKey: true }, "folder-9", "copy"],
  "on one of the dragged folders does nothing": [{}, "folder-2", null],
  "on one of them with Ctrl does nothing, either": [{ ctrlKey: true }, "folder-2", null],
  "on a folder of the path moves": [{}, "", "move"],
};

for (const [name, [keys, key, act]] of Object.entries(DROPS)) {
  test(`a drop ${name}`, () => {
    assert.equal(dropAct({ ctrlKey: false, altKey: false, ...keys }, { entry: ["file-1", "folder-2"] }, key), act);
  });
}

test("if all rows are dragged, the server refuses a folder that is among them", () => {
  assert.equal(dropAct({}, { all: ["1"] }, "folder-2"), "move");
});
