// A picture that does not come leaves the icon that lies under it.
document.addEventListener(
  "error",
  ({ target }) => {
    if (target.matches?.("#listing img")) target.remove();
  },
  true,
);

for (const picture of document.querySelectorAll("#listing img")) {
  if (picture.complete && !picture.naturalWidth && picture.currentSrc) picture.remove();
}
