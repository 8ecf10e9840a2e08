import { post } from "./rows.js";

export function deleteRow(row) {
  const button = document.getElementById("delete-chosen");
  if (button) post(button.formAction, { entry: row.id }, "#delete", "innerHTML");
}
