// A page from the back/forward cache may show what the current user must not see, such as after a sign-out.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
