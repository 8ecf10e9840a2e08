// Old links and bookmarks may name sections that have moved to the Server page. The server never sees
// fragments, so the browser has to redirect.
const server = document.querySelector("[data-sections]");

function follow() {
  const section = location.hash.slice(1);
  if (server.dataset.sections.split(" ").includes(section)) location.replace(server.href + location.hash);
}

addEventListener("hashchange", follow);
follow();
