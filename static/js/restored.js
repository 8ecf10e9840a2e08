// A page that comes back as it was left may show what somebody else must not see any more.
window.addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
