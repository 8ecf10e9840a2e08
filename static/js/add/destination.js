// Put the folder that was chosen in the dialog into the list of destinations.
import { onClick } from "../events.js";

onClick("dialog [data-destination]", ({ dataset: { destination, name } }) => {
  const list = document.querySelector("select[name=folder]");
  if (!list) return;
  if (![...list.options].some(({ value }) => value === destination)) list.add(new Option(name, destination));
  list.value = destination;
  // On a phone, the field folds while the dialog has the focus.
  list.form.querySelector("textarea")?.focus();
});
