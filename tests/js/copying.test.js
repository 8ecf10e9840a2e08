import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const WORDS = { shell: { copied: "Link copied", copy: "Copied", selected: "selected" } };
const events = new EventTarget();
let focused;
let copied;
let mayCopy;
let said;

class Element {
  isSelected = false;
  children = [];

  append(child) {
    this.children.push(child);
  }

  remove() {
    page.body.children = page.body.children.filter((each) => each !== this);
  }

  focus() {
    focused = this;
  }

  select() {
    this.isSelected = true;
  }
}

const [address, dialog, field, button] = Array.from({ length: 4 }, () => new Element());
field.value = "http://ferry/join/7/";
dialog.showModal = () => {
  dialog.isOpen = true;
};
const part = { remove() {}, setAttribute() {}, getAttribute: () => "#icon" };
const toast = { cloneNode: () => ({ classList: part, querySelector: () => part }) };
const toasts = Object.assign(new EventTarget(), { children: [], append: () => (said += 1) });
const page = {
  words: { textContent: JSON.stringify(WORDS) },
  toasts,
  toast: { content: { firstElementChild: toast } },
  address: dialog,
  "address-field": address,
  "address-1": field,
  body: new Element(),
};
globalThis.document = {
  documentElement: { lang: "en" },
  body: page.body,
  getElementById: (id) => page[id],
  querySelector: () => null,
  addEventListener: events.addEventListener.bind(events),
  createElement: () => new Element(),
  get activeElement() {
    return focused;
  },
  execCommand: (name) => {
    if (mayCopy) copied = focused.value;
    return name === "copy" && mayCopy;
  },
};
const setClipboard = (clipboard) =>
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { clipboard } });

const { copy } = await import("../../static/js/copying.js");

const settled = () => new Promise(setImmediate);

async function press() {
  button.dataset = { copyField: "address-1" };
  events.dispatchEvent(Object.defineProperty(new Event("click"), "target", { value: { closest: () => button } }));
  await settled();
}

beforeEach(() => {
  [focused, copied, mayCopy, said] = [button, null, true, 0];
  Object.assign(dialog, { isOpen: false });
  field.isSelected = false;
  setClipboard(undefined);
});

test("a secure page writes to the clipboard", async () => {
  setClipboard({ writeText: async (text) => (copied = text) });
  mayCopy = false;
  await copy("magnet:1");
  assert.deepEqual([copied, said, dialog.isOpen], ["magnet:1", 1, false]);
});

test("over plain HTTP, a selection is copied, and the focus returns", async () => {
  await copy("magnet:1");
  assert.deepEqual([copied, said, dialog.isOpen], ["magnet:1", 1, false]);
  assert.equal(focused, button);
  assert.deepEqual(page.body.children, []);
});

test("a clipboard that refuses is no reason to give up", async () => {
  setClipboard({ writeText: () => Promise.reject(new Error("denied")) });
  await copy("magnet:1");
  assert.equal(copied, "magnet:1");
});

test("if nothing can be copied, the address is shown and selected", async () => {
  mayCopy = false;
  await copy("magnet:1");
  assert.deepEqual([address.value, address.isSelected, dialog.isOpen, said], ["magnet:1", true, true, 0]);
});

test("a button copies the field that it names", async () => {
  await press();
  assert.deepEqual([copied, said, field.isSelected], ["http://ferry/join/7/", 1, false]);
});

test("or selects it", async () => {
  mayCopy = false;
  await press();
  assert.deepEqual([copied, focused, field.isSelected], [null, field, true]);
});
