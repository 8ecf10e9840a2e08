const deleteButton = () => document.getElementById("delete-chosen");

export function deleteChosen() {
  deleteButton()?.click();
}

export function deleteRow(row) {
  if (!deleteButton()) return;
  const values = { entry: row.id };
  window.htmx.ajax("POST", deleteButton().getAttribute("formaction"), {
    source: "#go",
    target: "#delete",
    swap: "innerHTML",
    values,
  });
}
