import { copy } from "../copying.js";

document.getElementById("copy-link").addEventListener("click", () => {
  const [field] = document.querySelectorAll(".pairing input");
  copy(/** @type {HTMLInputElement} */ (field).value);
});
