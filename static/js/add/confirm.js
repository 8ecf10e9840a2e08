// The confirmation page: shows what other pages and apps sent, and adds it when the user confirms.
import { makeElement } from "../elements.js";
import { Upload } from "../files/upload.js";
import { formatSize } from "../sizes.js";
import { fill, words } from "../words.js";
import { isArmed, restart, whenArmed } from "./clickjacking.js";
import { chooseFolder } from "./destination.js";
import { kindOf, Outcomes, textsFor } from "./outcomes.js";
import { post, send, tellOthers, troubleParts, uploadUrl, urls } from "./sender.js";
import { forget, readShare } from "./shared.js";

const CLOSE_MS = 1500;
const find = (id) => document.getElementById(id);
const [form, picks, go, trouble] = ["ask", "picks", "go", "trouble"].map(find);
const usual = find("title").textContent;
const files = new Map();
let isPopup = false;
// The site that the bookmarklet was used on.
let site = "";
let isBusy = false;
let isWaiting = false;
let readController = new AbortController();

const boxes = () => [...picks.querySelectorAll("input")];
const tickedBoxes = () => boxes().filter(({ checked }) => checked);
// One box represents all links without a row.
const restBox = () => boxes().find(({ name }) => name === "text");
const linesIn = (box) => box.value.split("\n");
const countIn = (some) => some.flatMap(linesIn).length;

// Reading the list

// A newer list aborts the reading of an older one. If the request fails, show an error; the list is
// still in the fragment or with the service worker.
async function begin() {
  readController.abort();
  readController = new AbortController();
  const { signal } = readController;
  isWaiting = "awaited" in form.dataset;
  form.hidden &&= !isWaiting;
  go.disabled = true;
  trouble.textContent = "";
  if (isWaiting) title(usual);
  try {
    await readList(signal);
  } catch ({ message }) {
    const parts = [words.add.cut, words.add.offline].includes(message) ? [words.ask.unread] : troubleParts(message);
    if (!signal.aborted) trouble.replaceChildren(...parts);
    return;
  }
  isWaiting = false;
  update();
}

async function readList(signal) {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const query = new URLSearchParams(location.search);
  isPopup = fragment.has("popup");
  if (query.has("shared")) return fromShare(query, signal);
  if (!fragment.size) return;
  site = fragment.get("from") ?? "";
  if (site) say(fill(words.ask.from, { host: site }) + (fragment.has("page") ? ` ${words.ask.page}` : ""));
  const texts = ["text", "magnet", "url"].flatMap((name) => fragment.getAll(name));
  await show(texts, fragment.get("title"), signal);
}

async function fromShare(query, signal) {
  const share = await readShare();
  await show(share.texts, share.title, signal);
  for (const file of share.files) take(file);
  say(query.get("shared") === "none" && !boxes().length ? words.ask.unshared : words.ask.shared);
}

if ("launchQueue" in window) {
  window.launchQueue.setConsumer(async ({ files: handles }) => {
    for (const handle of handles) take(await handle.getFile());
    update();
  });
}

async function show(texts, title, signal) {
  picks.replaceChildren();
  const text = texts.join("\n");
  if (!text.trim()) return;
  const answer = await post(`${urls.read}?picks`, { text, title: title ?? "", from: site }, signal);
  signal.throwIfAborted();
  if (answer.folder) chooseFolder(...answer.folder);
  picks.innerHTML = answer.picks;
}

function take(file) {
  const row = find("pick").content.firstElementChild.cloneNode(true);
  const box = row.querySelector("input");
  row.querySelector("bdi").textContent = file.name;
  row.querySelector(".num").textContent = formatSize(file.size);
  box.dataset.size = file.size;
  files.set(box, file);
  picks.append(row);
}

// Texts

const say = (text) => (find("said").textContent = text);

function update() {
  if (isBusy || isWaiting || !find("show").hidden) return;
  const chosen = countIn(tickedBoxes());
  const bytes = tickedBoxes().reduce((sum, { dataset }) => sum + Number(dataset.size ?? 0), 0);
  const texts = textsFor({ count: countIn(boxes()), chosen, bytes, free: find("hint").dataset.free });
  title(texts.title);
  go.querySelector("span").textContent = texts.button;
  find("hint").textContent = texts.hint;
  form.hidden = !picks.children.length;
  find("nothing").hidden = picks.children.length > 0;
  go.disabled = !isArmed() || !chosen;
}

function title(text) {
  find("title").textContent = text;
  document.title = text + document.title.slice(document.title.lastIndexOf(" · "));
}

picks.addEventListener("change", update);

// Adding

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!isArmed() || isBusy || !tickedBoxes().length) return;
  addTicked();
});

async function addTicked() {
  isBusy = true;
  go.disabled = true;
  trouble.textContent = "";
  const links = tickedBoxes().filter((box) => !files.has(box));
  const rows = new Map(links.flatMap((box) => linesIn(box).map((line) => [line, box])));
  const lines = [...rows.keys()];
  const rest = restBox();
  const outcomes = new Outcomes();
  const onAnswer = ({ items }, left) => {
    for (const item of items) settle(rows.get(item.line), item, outcomes);
    say(fill(words.add.progress, { done: lines.length - left, total: lines.length }));
    tellOthers();
  };
  const folder = form.elements.folder?.value ?? "";
  const result = lines.length ? await send(lines, { folder, site, onAnswer }) : { keptLines: [], trouble: "" };
  if (rest?.checked) {
    const left = result.keptLines.filter((line) => rows.get(line) === rest);
    rest.value = left.join("\n");
    rest.closest("li").querySelector("b").textContent = fill(words.upload.more, { count: left.length });
    if (!left.length) rest.closest("li").remove();
  }
  if (!result.trouble) await addTickedFiles(folder, outcomes);
  isBusy = false;
  conclude(outcomes, result.trouble);
}

async function addTickedFiles(folder, outcomes) {
  for (const box of tickedBoxes().filter((each) => files.has(each))) {
    say(fill(words.ask.sending, { name: `\u2068${files.get(box).name}\u2069` }));
    const { isWell, reason, item } = await sendFile(files.get(box), folder);
    settle(box, item ?? { outcome: isWell ? "added" : "refused", sentence: reason }, outcomes);
    if (isWell) files.delete(box);
  }
}

const sendFile = (file, folder) =>
  new Promise((resolve) => {
    const upload = new Upload(file, uploadUrl(folder), ({ state, answer, reason }) => {
      if (state === "done" || state === "failed")
        resolve({ isWell: state === "done", reason, item: answer?.items?.[0] });
    });
    upload.start();
  });

function settle(box, item, outcomes) {
  outcomes.count(item);
  if (!box || box === restBox()) return;
  const row = box.closest("li");
  if (kindOf(item.outcome) !== "failed") return row.remove();
  row.querySelector("small + small")?.remove();
  row.querySelector("small").after(makeElement("small", { textContent: item.sentence }));
}

function conclude(outcomes, sendTrouble) {
  const end = outcomes.end(sendTrouble, tickedBoxes().length);
  if (end.isDone) return finish(outcomes, end);
  // A sign-in link would lose files that were opened with the app, so don't offer one.
  trouble.replaceChildren(...(files.size ? [sendTrouble] : troubleParts(sendTrouble)));
  update();
  say(String(outcomes));
  if (end.title) title(end.title);
  go.disabled = false;
}

// The browser may refuse to close the window, so the text explains what to do.
async function finish(outcomes, end) {
  await forget();
  history.replaceState(null, "", location.pathname);
  form.hidden = true;
  find("results")?.remove();
  title(end.title);
  say(fill(words.ask.close, { outcomes: String(outcomes) }));
  find("show").hidden = false;
  find("show").focus();
  if (isPopup && end.mayClose) setTimeout(() => window.close(), CLOSE_MS);
}

document.querySelector("[data-leave]").addEventListener("click", async (event) => {
  event.preventDefault();
  await forget();
  if (isPopup) window.close();
  location.assign(event.target.href);
});

window.addEventListener("beforeunload", (event) => {
  if (isBusy) event.preventDefault();
});

// A new list in the fragment is as new to the user as a new page, so arm the button again.
window.addEventListener("hashchange", () => {
  find("show").hidden = true;
  restart();
  begin();
});

whenArmed(update);
begin();
