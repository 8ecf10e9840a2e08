// Upload the chosen or dropped files, with a row for each, and list those that have arrived. Without
// JavaScript, the form sends them.
import { listenForDrops, sortDropped } from "../drops.js";
import { makeElement } from "../elements.js";
import { Upload } from "../files/upload.js";
import { UploadQueue } from "../files/upload-queue.js";
import { showToast } from "../toasts.js";
import { fill, words } from "../words.js";

const panel = document.getElementById("sending-files");
const form = document.querySelector("main form");
const list = document.getElementById("sent");
const queue = new UploadQueue(panel, { home: "title", announce, make: (...facts) => new Upload(...facts) });

function announce({ file }) {
  list.append(makeElement("li", {}, makeElement("bdi", { textContent: file.name })));
  document.getElementById("sent-count").textContent = fill(words.receive.sent, { count: list.children.length });
  return true;
}

function add(files) {
  const { url } = panel.dataset;
  queue.add([...files].map((file) => ({ file, url })));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = form.elements.namedItem("file");
  add(input.files);
  input.value = "";
});

listenForDrops({
  isOurs: ({ dataTransfer }) => Boolean(dataTransfer?.types.includes("Files")),
  take: (dropped) => {
    const { folders, files } = sortDropped(dropped);
    if (folders.length) showToast(words.upload.nodirs);
    add(files);
  },
});
