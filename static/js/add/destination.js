// Put the folder that was chosen in the dialog into the list of destinations.
document.addEventListener("click", ({ target }) => {
  const choice = target.closest("dialog [data-destination]")?.dataset;
  const list = document.querySelector("select[name=folder]");
  if (!choice || !list) return;
  const isListed = [...list.options].some(({ value }) => value === choice.destination);
  if (!isListed) list.add(new Option(choice.name, choice.destination));
  list.value = choice.destination;
  // On a phone, the field folds while the dialog has the focus.
  list.form.querySelector("textarea")?.focus();
});
