// Bookmarks and old links name sections that are on the Server page now. Servers see no fragments.
const server = document.querySelector("[data-sections]");

function follow() {
  const section = location.hash.slice(1);
  if (server.dataset.sections.split(" ").includes(section)) location.replace(server.href + location.hash);
}

addEventListener("hashchange", follow);
follow();
