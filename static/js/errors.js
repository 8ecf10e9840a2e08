// The server marks an error that it wrote for this page with HX-Retarget. Any other
// error body comes from a proxy or is a whole page, and must not land in the page.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status < 400 || detail.xhr.status === 422) return;
  const isOurs = detail.xhr.getResponseHeader("HX-Retarget") !== null;
  detail.shouldSwap = isOurs;
  detail.isError = !isOurs;
  if (isOurs) detail.selectOverride = "unset";
});

// What the server refuses in words for the page is a success to htmx.
export const isDone = ({ successful, xhr }) => successful && xhr.status < 400;
