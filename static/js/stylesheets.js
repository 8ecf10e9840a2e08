// Load a style sheet that the page came without. Resolve when it's there, or can't be had.
export function addStylesheet(address) {
  if (document.head.querySelector(`link[href="${CSS.escape(address)}"]`)) return null;
  const fresh = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
  document.head.append(fresh);
  return new Promise((resolve) => {
    for (const end of ["load", "error"]) fresh.addEventListener(end, resolve, { once: true });
  });
}
