// The page that shows what came in from elsewhere, and adds it on one press of its button.
import { formatSize } from "../units.js";
import { fill, words } from "../words.js";
import { armed, restart, whenArmed } from "./armed.js";
import { kindOf, Outcomes } from "./outcomes.js";
import { post, send, sendFile, tellOthers, troubleParts, urls } from "./sender.js";
import { forget, shared } from "./shared.js";

const CLOSE_MS = 1500;
const find = (id) => document.getElementById(id);
const [form, picks, go, trouble] = ["ask", "picks", "go", "trouble"].map(find);
const usual = find("title").textContent;
const files = new Map();
let isPopup = false;
let isBusy = false;
let isWaiting = false;
let reading = new AbortController();

const boxes = () => [...picks.querySelectorAll("input")];
const ticked = () => boxes().filter(({ checked }) => checked);
// One box stands for all links that have no row.
const restBox = () => boxes().find(({ name }) => name === "text");
const linesIn = (box) => box.value.split("\n");
const countIn = (some) => some.flatMap(linesIn).length;

// What came in

// A newer list ends the reading of an older one. Without an answer, the page says so: the list is
// still behind the # or with the worker.
async function begin() {
  reading.abort();
  reading = new AbortController();
  const { signal } = reading;
  isWaiting = "awaited" in form.dataset;
  form.hidden &&= !isWaiting;
  go.disabled = true;
  trouble.textContent = "";
  if (isWaiting) title(usual);
  try {
    await fetched(signal);
  } catch ({ message }) {
    if (!signal.aborted)
      trouble.replaceChildren(
        ...([words.add.cut, words.add.offline].includes(message) ? [words.ask.unread] : troubleParts(message)),
      );
    return;
  }
  isWaiting = false;
  update();
}

async function fetched(signal) {
  const given = new URLSearchParams(location.hash.slice(1));
  const query = new URLSearchParams(location.search);
  isPopup = given.has("popup");
  if (query.has("shared")) return fromShare(query, signal);
  if (!given.size) return;
  if (given.get("from"))
    say(fill(words.ask.from, { host: given.get("from") }) + (given.has("page") ? ` ${words.ask.page}` : ""));
  await show(
    ["text", "magnet", "url"].flatMap((name) => given.getAll(name)),
    given.get("title"),
    signal,
  );
}

async function fromShare(query, signal) {
  const kept = await shared();
  await show(kept.texts, kept.title, signal);
  for (const file of kept.files) take(file);
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
  const answer = await post(`${urls.read}?picks`, { text, title: title ?? "" }, { signal });
  signal.throwIfAborted();
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

// What the page says

const say = (text) => (find("said").textContent = text);

function update() {
  if (isBusy || isWaiting || !find("show").hidden) return;
  const count = countIn(boxes());
  const chosen = countIn(ticked());
  const { none, some, all, button } = words.ask;
  title(!count ? none : chosen < count && count > 1 ? fill(some, { chosen, total: count }) : fill(all, { count }));
  go.querySelector("span").textContent = fill(button, { count: chosen });
  const bytes = ticked().reduce((sum, { dataset }) => sum + Number(dataset.size ?? 0), 0);
  const size = bytes ? fill(words.ask.size, { size: formatSize(bytes) }) : "";
  const { free } = find("hint").dataset;
  find("hint").textContent = size && free ? fill(words.ask.sentences, { first: size, next: free }) : size || free;
  form.hidden = !picks.children.length;
  find("nothing").hidden = picks.children.length > 0;
  go.disabled = !armed() || !chosen;
}

function title(text) {
  find("title").textContent = text;
  document.title = `${text} · Ferry`;
}

picks.addEventListener("change", update);

// The press

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!armed() || isBusy || !ticked().length) return;
  act();
});

async function act() {
  isBusy = true;
  go.disabled = true;
  trouble.textContent = "";
  const rows = new Map(
    ticked()
      .filter((box) => !files.has(box))
      .flatMap((box) => linesIn(box).map((line) => [line, box])),
  );
  const lines = [...rows.keys()];
  const rest = restBox();
  const outcomes = new Outcomes();
  const answered = ({ items }, left) => {
    for (const item of items) settle(rows.get(item.line), item, outcomes);
    say(fill(words.add.progress, { done: lines.length - left, total: lines.length }));
    tellOthers();
  };
  const folder = form.elements.folder?.value ?? "";
  const sent = lines.length ? await send(lines, { folder, answered }) : { kept: [], trouble: "" };
  if (rest?.checked) {
    const left = sent.kept.filter((line) => rows.get(line) === rest);
    rest.value = left.join("\n");
    rest.closest("li").querySelector("b").textContent = fill(words.upload.more, { count: left.length });
    if (!left.length) rest.closest("li").remove();
  }
  if (!sent.trouble) await actOnFiles(folder, outcomes);
  isBusy = false;
  conclude(outcomes, sent.trouble);
}

async function actOnFiles(folder, outcomes) {
  for (const box of ticked().filter((each) => files.has(each))) {
    say(fill(words.ask.sending, { name: `\u2068${files.get(box).name}\u2069` }));
    const { isWell, reason, item } = await sendFile(files.get(box), folder);
    settle(box, item ?? { outcome: isWell ? "added" : "refused", sentence: reason }, outcomes);
    if (isWell) files.delete(box);
  }
}

function settle(box, item, outcomes) {
  outcomes.count(item);
  if (!box || box === restBox()) return;
  const row = box.closest("li");
  if (kindOf(item.outcome) !== "failed") return row.remove();
  row.querySelector("small + small")?.remove();
  row.querySelector("small").after(Object.assign(document.createElement("small"), { textContent: item.sentence }));
}

function conclude(outcomes, sentTrouble) {
  const isDone = !outcomes.failed && !sentTrouble && !ticked().length;
  if (isDone) return done(outcomes);
  // Files that were opened with the app would not come along.
  trouble.replaceChildren(...(files.size ? [sentTrouble] : troubleParts(sentTrouble)));
  update();
  say(String(outcomes));
  if (outcomes.added || outcomes.known) title(words.ask.partly);
  go.disabled = false;
}

// Close the window only if everything was added: other outcomes are there to be read. Where the
// browser refuses to close it, the page says what to do.
async function done(outcomes) {
  await forget();
  history.replaceState(null, "", location.pathname);
  form.hidden = true;
  find("results")?.remove();
  title(outcomes.added ? words.ask.done : words.ask.here);
  say(fill(words.ask.close, { outcomes: String(outcomes) }));
  find("show").hidden = false;
  find("show").focus();
  if (isPopup && !outcomes.known) setTimeout(() => window.close(), CLOSE_MS);
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

// Another list behind the # is another page, and as new to its reader.
window.addEventListener("hashchange", () => {
  find("show").hidden = true;
  restart();
  begin();
});

whenArmed(update);
begin();
