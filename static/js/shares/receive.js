// Upload the chosen files, with a row for each. Without JavaScript, the form sends them.
import { Upload } from "../files/upload.js";
import { UploadQueue } from "../files/upload-queue.js";

const panel = document.getElementById("sending-files");
const form = document.querySelector("main form");
const queue = new UploadQueue(panel, { home: "title", make: (...facts) => new Upload(...facts) });

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = form.elements.namedItem("file");
  const { url } = panel.dataset;
  queue.add([...input.files].map((file) => ({ file, url })));
  input.value = "";
});
