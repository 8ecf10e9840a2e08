// Remove pictures that fail to load, to uncover the icons below them.
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
