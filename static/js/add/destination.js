// Put the folder that was chosen in the dialog into the list of destinations.
import { onClick } from "../events.js";

onClick("dialog [data-destination]", ({ dataset: { destination, name } }) => {
  // On a phone, the field folds while the dialog has the focus.
  chooseFolder(destination, name)?.form.querySelector("textarea")?.focus();
});

export function chooseFolder(id, name) {
  const list = document.querySelector("select[name=folder]");
  if (!list) return null;
  if (![...list.options].some(({ value }) => value === id)) list.add(new Option(name, id));
  list.value = id;
  return list;
}
