import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const dialogs = {};
globalThis.HTMLDialogElement = class {};
globalThis.HTMLButtonElement = class {};
Object.assign(HTMLDialogElement.prototype, { closedBy: "" });
Object.assign(HTMLButtonElement.prototype, { commandForElement: null });
globalThis.document = Object.assign(new EventTarget(), {
  querySelector: () => null,
  querySelectorAll: () => [],
  getElementById: (id) => dialogs[id],
});

await import("../../static/js/dialogs.js");

class FakeDialog {
  open = false;
  firstElementChild = null;
  field = { value: "typed", removeAttribute: () => {}, closest: () => ({ querySelector: () => null }) };

  matches(selector) {
    assert.equal(selector, "dialog.dialog:not([open])");
    return !this.open;
  }

  // What is in the dialog knows it, and the dialog contains itself.
  contains(node) {
    return node === this || node.dialog === this;
  }

  querySelectorAll = () => [this.field];

  showModal() {
    this.open = true;
  }

  close() {
    this.open = false;
  }
}

const elementIn = (dialog) => ({ dialog, closest: () => dialog });
const LISTING = { matches: () => false };
const fire = (name, facts) => document.dispatchEvent(Object.assign(new Event(name), facts));

// Act as htmx does with the response to a request that `elt` made.
function respond(elt, target, { status = 200, isOurs = true, content = {} } = {}) {
  const xhr = { status, getResponseHeader: () => (isOurs ? "#toasts" : null) };
  const detail = { target, requestConfig: { elt }, xhr, shouldSwap: status > 0, isError: false };
  if (status) fire("htmx:beforeSwap", { detail });
  if (detail.shouldSwap) target.firstElementChild = content;
  fire("htmx:afterRequest", { detail: { ...detail, successful: status > 0 && !detail.isError } });
  if (detail.shouldSwap) fire("htmx:afterSettle", { detail });
}

let dialog;
const ACTS = {
  ask: () => respond(elementIn(null), dialog),
  "ask in vain": () => respond(elementIn(null), dialog, { content: null }),
  step: () => respond(elementIn(dialog), dialog),
  "refused field": () => respond(elementIn(dialog), LISTING, { status: 422 }),
  answer: () => respond(elementIn(dialog), LISTING),
  "refused answer": () => respond(elementIn(dialog), LISTING, { status: 409 }),
  "proxy's answer": () => respond(elementIn(dialog), LISTING, { status: 502, isOurs: false }),
  "no answer": () => respond(elementIn(dialog), LISTING, { status: 0 }),
  "another answer": () => respond(elementIn(new FakeDialog()), LISTING),
  close: () => dialog.close(),
};

beforeEach(() => {
  dialog = new FakeDialog();
  dialogs.move = dialog;
});

// After these acts, is the question open, and does its field keep what was typed?
const SEQUENCES = {
  "a question opens when it has arrived": [["ask"], true, true],
  "an empty response opens nothing": [["ask in vain"], false, true],
  "its next step leaves it open": [["ask", "step", "step"], true, true],
  "a next step that arrives after it was closed leaves it closed": [["ask", "close", "step"], false, true],
  "two late steps leave it closed": [["ask", "close", "step", "step"], false, true],
  "it opens again when it is asked again": [["ask", "close", "ask"], true, true],
  "it opens again after a late step": [["ask", "close", "step", "ask"], true, true],
  "a step of the closed question may arrive in the one that is asked next": [
    ["ask", "close", "ask", "step"],
    true,
    true,
  ],
  "an answer closes it, and empties its field": [["ask", "answer"], false, false],
  "a refused field leaves it open": [["ask", "refused field"], true, true],
  "a field that is corrected closes it": [["ask", "refused field", "answer"], false, false],
  "a refused answer closes it, and keeps what was typed": [["ask", "refused answer"], false, true],
  "so does a proxy's answer": [["ask", "proxy's answer"], false, true],
  "so does a lost connection": [["ask", "no answer"], false, true],
  "a lost connection after it was closed changes nothing": [["ask", "close", "no answer"], false, true],
  "it can be asked again after it was answered": [["ask", "answer", "ask"], true, false],
  "the answer to another dialog leaves it open": [["ask", "another answer"], true, true],
};

for (const [name, [acts, isOpen, isKept]] of Object.entries(SEQUENCES)) {
  test(`a question: ${name}`, () => {
    for (const act of acts) ACTS[act]();
    assert.equal(dialog.open, isOpen);
    assert.equal(dialog.field.value, isKept ? "typed" : "");
  });
}

test("a late step isn't shown in a closed question", () => {
  ACTS.step();
  assert.equal(dialog.firstElementChild, null);
});

// Links

const opener = { dataset: { dialog: "move" }, closest: () => null };
const clickOn = (links, keys = {}) => {
  const target = { closest: (selector) => links[selector] ?? null };
  const event = Object.assign(new Event("click", { cancelable: true }), keys);
  Object.defineProperty(event, "target", { value: target });
  document.dispatchEvent(event);
  return event.defaultPrevented;
};

test("a link to a page that is a dialog here opens it, and a link out of it closes it", () => {
  assert.equal(clickOn({ "a[data-dialog]": opener }), true);
  assert.equal(dialog.open, true);
  assert.equal(clickOn({ "dialog a[data-close]": elementIn(dialog) }), true);
  assert.equal(dialog.open, false);
});

test("with Ctrl, or without a dialog on this page, the link opens its page", () => {
  assert.equal(clickOn({ "a[data-dialog]": opener }, { ctrlKey: true }), false);
  dialogs.move = null;
  assert.equal(clickOn({ "a[data-dialog]": opener }), false);
  assert.equal(clickOn({}), false);
  assert.equal(dialog.open, false);
});
