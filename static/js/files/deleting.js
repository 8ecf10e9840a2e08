const loss = () => document.getElementById("delete-chosen");

export function deleteChosen() {
  loss()?.click();
}

export function deleteRow(row) {
  if (!loss()) return;
  const values = { entry: row.id };
  window.htmx.ajax("POST", loss().getAttribute("formaction"), { source: "#go", target: "#delete", swap: "innerHTML", values });
}
