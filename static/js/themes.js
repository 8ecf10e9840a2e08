// The rail and the account page may show the same choice twice.
document.addEventListener("change", ({ target }) => {
  if (!target.matches(".scheme")) return;
  for (const twin of document.querySelectorAll(".scheme")) twin.checked = twin.value === target.value;
});
