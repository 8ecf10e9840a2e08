// The page that shows what came in from elsewhere, and adds it on one press of its button.
import { fill, numberWords, sizeWords } from "../files/words.js";
import { armed, restart, whenArmed } from "./armed.js";
import { read } from "./lines.js";
import { Outcomes, kindOf } from "./outcomes.js";
import { send, sendFile, tellOthers, troubleParts, words } from "./sender.js";
import { forget, shared } from "./shared.js";

const CLOSE_MS = 1500;
const MOST_ROWS = 500;
const asking = document.getElementById("asking").dataset;
const find = (id) => document.getElementById(id);
const [form, picks, go, trouble] = ["ask", "picks", "go", "trouble"].map(find);
const files = new Map();
let isPopup = false;
let isBusy = false;
let hidden = [];

const boxes = () => [...picks.querySelectorAll("input")];
const ticked = () => boxes().filter(({ checked }) => checked);
const restBox = () => boxes().find(({ dataset }) => dataset.kind === "rest");
const rest = () => (restBox()?.checked ? hidden : []);

// What came in

async function fetched() {
  const given = new URLSearchParams(location.hash.slice(1));
  const query = new URLSearchParams(location.search);
  isPopup = given.has("popup");
  if (query.has("shared")) return fromShare(query);
  if (!given.size) return;
  const lines = ["text", "magnet", "url"].flatMap((name) => given.getAll(name));
  show(read(lines.join("\n")), given.get("title") ?? "");
  if (given.get("from")) say(fill(asking.from, { host: given.get("from") }) + (given.has("page") ? ` ${asking.page}` : ""));
}

async function fromShare(query) {
  const kept = await shared();
  const items = read(kept.texts.join("\n"));
  show(items.some(({ reason }) => !reason) ? items.filter(({ reason }) => !reason) : items, kept.title);
  for (const file of kept.files) take(file);
  say(query.get("shared") === "none" && !boxes().length ? asking.unshared : asking.shared);
  update();
}

if ("launchQueue" in window) {
  window.launchQueue.setConsumer(async ({ files: handles }) => {
    for (const handle of handles) take(await handle.getFile());
    update();
  });
}

function show(items, title) {
  const links = items.filter(({ reason }) => !reason);
  if (links.length === 1 && title && /^[0-9a-z]{32,68}$/.test(links[0].name)) links[0].name = title;
  hidden = links.slice(MOST_ROWS).map(({ line }) => line);
  picks.replaceChildren(...items.slice(0, MOST_ROWS).map(rowOf));
  if (hidden.length) picks.append(rowOf({ line: "", name: fill(words.more, { count: numberWords(hidden.length) }), note: "", kind: "rest" }));
  update();
}

function rowOf({ line, name, kind, size, trackers, host, reason, note }) {
  const row = find("pick").content.firstElementChild.cloneNode(true);
  const box = row.querySelector("input");
  row.querySelector("bdi").textContent = name;
  row.querySelector("small").textContent = note ?? (reason ? words[reason] : noteOf(kind, trackers, host));
  row.querySelector(".num").textContent = size ? sizeWords(size) : "";
  row.querySelector("use").setAttribute("href", `${asking.icons}#${{ magnet: "magnet", file: "file" }[kind] ?? (reason ? "circle-alert" : "link")}`);
  Object.assign(box, { value: line, name: "line" });
  Object.assign(box.dataset, { size: size ?? 0, kind: kind ?? "" });
  if (reason) {
    box.remove();
    row.firstElementChild.classList.add("refused");
  }
  return row;
}

function noteOf(kind, trackers, host) {
  if (kind === "file") return asking.file;
  if (kind === "address") return fill(asking.address, { host });
  if (!trackers) return asking.magnet;
  return trackers === 1 ? asking.tracker : fill(asking.trackers, { count: numberWords(trackers) });
}

function take(file) {
  const row = rowOf({ line: "", name: file.name, kind: "file", size: file.size });
  files.set(row.querySelector("input"), file);
  picks.append(row);
}

// What the page says

const say = (text) => (find("said").textContent = text);

function update() {
  if (isBusy || !find("show").hidden) return;
  const all = boxes();
  const ofRest = restBox() ? 1 : 0;
  const count = all.length - ofRest + hidden.length;
  const chosen = ticked().length - (restBox()?.checked ? 1 : 0) + rest().length;
  const counts = { count: numberWords(count), ticked: numberWords(chosen) };
  title(!count ? asking.none : count === 1 ? asking.one : fill(chosen < count ? asking.title : asking.all, counts));
  go.querySelector("span").textContent = chosen === 1 ? asking.only : fill(asking.button, { count: counts.ticked });
  const size = ticked().reduce((sum, { dataset }) => sum + Number(dataset.size ?? 0), 0);
  if (all.some(({ dataset }) => "size" in dataset)) find("hint").textContent = [size ? fill(asking.size, { size: sizeWords(size) }) : "", asking.free && `${asking.free}.`].filter(Boolean).join(" ");
  form.hidden = !picks.children.length && !("awaited" in form.dataset && isWaiting);
  find("nothing").hidden = picks.children.length > 0 || isWaiting;
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
  const rows = new Map(ticked().filter((box) => box.value && !files.has(box)).map((box) => [box.value, box]));
  const lines = read([...rows.keys(), ...rest()].join("\n")).map(({ line }) => line);
  const outcomes = new Outcomes();
  const answered = ({ items }, left) => {
    for (const item of items) settle(rows.get(item.line), item, outcomes);
    say(fill(words.progress, { done: numberWords(lines.length - left), total: numberWords(lines.length) }));
    tellOthers();
  };
  const folder = form.elements.folder?.value ?? "";
  const sent = lines.length ? await send(lines, { folder, answered }) : { kept: [], trouble: "" };
  if (restBox()?.checked) {
    hidden = sent.kept.filter((line) => !rows.has(line));
    if (hidden.length) restBox().closest("li").querySelector("bdi").textContent = fill(words.more, { count: numberWords(hidden.length) });
    else restBox().closest("li").remove();
  }
  if (!sent.trouble) await actOnFiles(folder, outcomes);
  isBusy = false;
  conclude(outcomes, sent.trouble);
}

async function actOnFiles(folder, outcomes) {
  for (const box of ticked().filter((each) => files.has(each))) {
    say(`${words.going}: \u2068${files.get(box).name}\u2069`);
    const { isWell, reason, item } = await sendFile(files.get(box), folder);
    settle(box, item ?? { outcome: isWell ? "added" : "refused", sentence: reason }, outcomes);
    if (isWell) files.delete(box);
  }
}

function settle(box, item, outcomes) {
  outcomes.count(item);
  if (!box) return;
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
  if (outcomes.added || outcomes.known) title(asking.partly);
  go.disabled = false;
}

// Close the window only if everything was added: other outcomes are there to be read. Where the
// browser refuses to close it, the page says what to do.
async function done(outcomes) {
  await forget();
  history.replaceState(null, "", location.pathname);
  form.hidden = true;
  find("results")?.remove();
  title(outcomes.added ? asking.done : asking.here);
  say(`${outcomes}. ${asking.close}`);
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
  go.disabled = true;
  fetched();
});

let isWaiting = "awaited" in form.dataset;
whenArmed(update);
await fetched();
isWaiting = false;
update();
