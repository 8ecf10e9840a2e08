import { folder, post, urlOf } from "./rows.js";

export function deleteRow(row) {
  if (!document.getElementById("delete")) return;
  post(urlOf(row, "delete/loss/"), { entry: row.id, shown: folder() }, "#delete", "innerHTML");
}
