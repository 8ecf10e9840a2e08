import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { tab } from "../../static/js/storage.js";

const ROOM = 30;

class FakeStorage {
  getItem(key) {
    return this[key] ?? null;
  }
  setItem(key, value) {
    if (value.length > ROOM) throw new Error("QuotaExceededError");
    this[key] = value;
  }
  removeItem(key) {
    delete this[key];
  }
}

beforeEach(() => {
  globalThis.sessionStorage = new FakeStorage();
});

test("written values can be read", () => {
  assert.equal(tab.write("place", { seconds: 3 }), true);
  assert.deepEqual(tab.readJson("place"), { seconds: 3 });
  assert.equal(tab.read("place"), '{"seconds":3}');
  assert.deepEqual(tab.keys(), ["place"]);
  tab.remove("place");
  assert.equal(tab.read("place"), null);
});

test("strings are kept as they are", () => {
  tab.write("keys", "off");
  assert.equal(tab.read("keys"), "off");
  assert.equal(tab.readJson("keys"), null);
});

test("a full storage says so and keeps what it had", () => {
  tab.write("queue", [1]);
  assert.equal(tab.write("queue", "x".repeat(ROOM + 1)), false);
  assert.deepEqual(tab.readJson("queue"), [1]);
});

test("a browser that forbids storage keeps nothing", () => {
  Object.defineProperty(globalThis, "sessionStorage", {
    configurable: true,
    get() {
      throw new Error("SecurityError");
    },
    set(value) {
      Object.defineProperty(globalThis, "sessionStorage", { configurable: true, writable: true, value });
    },
  });
  assert.deepEqual(tab.keys(), []);
  assert.equal(tab.read("place"), null);
  assert.equal(tab.write("place", "here"), false);
  tab.remove("place");
});
