// The server marks an error that it wrote for this page with HX-Retarget. Any other
// error body comes from a proxy or is a whole page, and must not be swapped into this page.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status < 400 || detail.xhr.status === 422) return;
  const isOurs = detail.xhr.getResponseHeader("HX-Retarget") !== null;
  detail.shouldSwap = isOurs;
  detail.isError = !isOurs;
  if (isOurs) detail.selectOverride = "unset";
});

// htmx counts a refusal that the server rendered for this page as a success.
export const isDone = ({ successful, xhr }) => successful && xhr.status < 400;
