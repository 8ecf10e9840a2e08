import { showToast, tell } from "../toasts.js";
import { fill, words } from "../words.js";
import { filesOf } from "./dropped-folders.js";
import { refresh } from "./swaps.js";
import { Upload } from "./upload.js";

const AT_ONCE = 3;
const IN_SIGHT = 12;

let panel = document.getElementById("uploads");
let queue = [];
let done = 0;

const isAlive = ({ state }) => state === "queued" || state === "uploading" || state === "moving";

function add(files) {
  queue.push(...files.map(({ file, url }) => new Upload(file, url, changed)));
  go();
}

function go() {
  const running = queue.filter(({ state }) => state === "uploading" || state === "moving").length;
  for (const upload of queue.filter(({ state }) => state === "queued").slice(0, AT_ONCE - running)) upload.start();
  draw();
}

function changed(upload) {
  if (upload.state === "done") {
    done += 1;
    remove(upload);
  }
  if (!queue.some(isAlive)) finish();
  go();
}

function finish() {
  if (done) {
    tell(fill(words.upload.done, { count: done }));
    refresh();
  }
  done = 0;
}

function remove(upload) {
  const next = upload.row?.nextElementSibling ?? upload.row?.previousElementSibling;
  const hadFocus = upload.row?.contains(document.activeElement);
  queue = queue.filter((each) => each !== upload);
  upload.row?.remove();
  if (hadFocus) (next?.querySelector("[data-do=cancel]") ?? document.getElementById("title")).focus();
}

function draw() {
  panel.hidden = !queue.length;
  const list = panel.querySelector("ul");
  const template = panel.querySelector("template.row");
  for (const upload of queue.slice(0, IN_SIGHT)) {
    if (!upload.row) list.append(upload.drawn(template));
  }
  const rest = queue.length - list.childElementCount;
  const counts = { done, total: done + queue.length };
  const more = panel.querySelector("#uploads-more");
  panel.querySelector(".sect p").textContent = fill(words.files.sum, counts);
  more.textContent = fill(words.upload.more, { count: rest });
  more.hidden = rest < 1;
}

document.addEventListener("click", ({ target }) => {
  const act = target.closest("#uploads [data-do]")?.dataset.do;
  if (!act) return;
  const upload = queue.find(({ row }) => row?.contains(target));
  if (act === "retry") upload.again();
  if (act === "cancel") cancel(upload);
  if (act === "clear") for (const each of [...queue]) cancel(each);
  go();
});

function cancel(upload) {
  upload.stop();
  remove(upload);
}

export function pick() {
  const note = document.getElementById("upload-note");
  if (!note) return panel.querySelector("input").click();
  note.returnValue = "";
  note.showModal();
}

document.addEventListener(
  "close",
  ({ target }) => {
    if (target.id === "upload-note" && target.returnValue === "go") panel.querySelector("input").click();
  },
  true,
);

export function addPicked(files) {
  add(files.map((file) => ({ file, url: panel.dataset.url })));
}

export async function addDropped(dropped) {
  const { files, trouble } = await filesOf(dropped, panel.dataset);
  if (trouble) showToast(trouble);
  add(files);
}

// Another folder was opened meanwhile: what is under way goes on in the panel that shows it.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "main") return;
  const fresh = document.getElementById("uploads");
  if (!queue.length) panel = fresh;
  else if (fresh) {
    delete panel.dataset.here;
    Object.assign(panel.dataset, fresh.dataset);
    fresh.replaceWith(panel);
  } else document.getElementById("listing").before(panel);
});

window.addEventListener("beforeunload", (event) => {
  if (queue.some(isAlive)) event.preventDefault();
});
