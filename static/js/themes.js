// A page may have this switch twice, in the rail and in its content, so keep them in sync.
document.addEventListener("change", ({ target }) => {
  if (!target.matches(".scheme")) return;
  for (const twin of document.querySelectorAll(".scheme")) twin.checked = twin.value === target.value;
});
